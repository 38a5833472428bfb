//! Schemas of events: the fields in the data of an event.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde_json::{Number, Value, json};

use crate::lock::lock;
use crate::map::{Map, type_name};

/// Declaration of an event: its name, and the fields in its data. Pass it to
/// [`HookRegistry::declare`](super::HookRegistry::declare).
///
/// ```
/// use hooks_runtime::events::{EventField, EventSchema};
///
/// let schema = EventSchema::new("deploy:start")
///     .description("A deployment begins.")
///     .field(EventField::string("target").one_of(["staging", "production"]))
///     .field(EventField::integer("attempt").optional());
/// assert_eq!(
///     schema.to_string(),
///     "deploy:start: A deployment begins.\n  \
///      target: string, one of \"staging\", \"production\"\n  \
///      attempt: integer, optional\n",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EventSchema {
    /// Name of the event.
    pub name: Arc<str>,
    /// Description of the event, for documentation.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub description: Cow<'static, str>,
    /// The fields, each with a unique name.
    pub fields: Vec<EventField>,
    /// `true` if the data must not have other fields.
    pub deny_unknown_fields: bool,
    /// `true` if a mismatch is logged, and the emission continues. `false` if a mismatch is an
    /// error of the emission.
    pub warn_only: bool,
}

/// A field in the data of an event. Required by default.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EventField {
    /// Name of the field.
    pub name: Cow<'static, str>,
    /// Type of its value.
    #[serde(rename = "type")]
    pub field_type: FieldType,
    /// `true` if the field may be missing or `null`.
    pub optional: bool,
    /// The allowed values; empty if every value of the type is allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<Value>,
    /// Description of the field, for documentation.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub description: Cow<'static, str>,
}

/// Type of a field: a type of JSON, an integer, or any type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FieldType {
    // Not `String`: with a second item of this name, the compiler's errors about a user's program
    // contain `std::string::String`. The same holds for `Any`.
    /// A string.
    #[serde(rename = "string")]
    Text,
    /// A number without a fraction. `1.0` and `1e2` are integers, as in JSON Schema.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// An array.
    Array,
    /// An object.
    Object,
    /// Any value.
    #[serde(rename = "any")]
    AnyValue,
}

impl FieldType {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            FieldType::Text => "string",
            FieldType::Integer => "integer",
            FieldType::Number => "number",
            FieldType::Boolean => "boolean",
            FieldType::Array => "array",
            FieldType::Object => "object",
            FieldType::AnyValue => "any",
        }
    }

    fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (FieldType::AnyValue, _)
            | (FieldType::Text, Value::String(_))
            | (FieldType::Number, Value::Number(_))
            | (FieldType::Boolean, Value::Bool(_))
            | (FieldType::Array, Value::Array(_))
            | (FieldType::Object, Value::Object(_)) => true,
            // As in JSON Schema, `1.0` is an integer.
            (FieldType::Integer, Value::Number(number)) => {
                let is_whole = |number: f64| number.fract() == 0.0;
                number.is_i64() || number.is_u64() || number.as_f64().is_some_and(is_whole)
            }
            _ => false,
        }
    }
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl EventSchema {
    /// Creates the declaration of an event without fields. Its data may have any fields.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        EventSchema {
            name: name.into(),
            description: Cow::Borrowed(""),
            fields: Vec::new(),
            deny_unknown_fields: false,
            warn_only: false,
        }
    }

    /// Sets the description of the event.
    #[must_use]
    pub fn description(mut self, description: impl Into<Cow<'static, str>>) -> Self {
        self.description = description.into();
        self
    }

    /// Adds a field; replaces a field with an equal name.
    #[must_use]
    pub fn field(mut self, field: EventField) -> Self {
        self.fields.retain(|other| other.name != field.name);
        self.fields.push(field);
        self
    }

    /// Treats a field that the schema does not have as a mismatch.
    ///
    /// Add the registry's [default fields](super::HookRegistry::set_default_fields) and the
    /// `timestamp` to such a schema, because they are fields of the data, too.
    #[must_use]
    pub fn deny_unknown_fields(mut self) -> Self {
        self.deny_unknown_fields = true;
        self
    }

    /// Logs a mismatch and continues the emission; by default, a mismatch is an error. Each
    /// problem is logged once.
    #[must_use]
    pub fn warn_only(mut self) -> Self {
        self.warn_only = true;
        self
    }

    /// Compares data with the schema.
    ///
    /// # Errors
    /// If the data do not match. The problems do not contain values of the data.
    pub fn check(&self, data: &Map) -> Result<(), SchemaMismatch> {
        self.check_layers(data, None)
    }

    /// Like [`check`](Self::check), for data and the default values of their missing fields.
    fn check_layers(&self, data: &Map, defaults: Option<&Map>) -> Result<(), SchemaMismatch> {
        let default = |name: &str| defaults.and_then(|defaults| defaults.get(name));
        let mut problems: Vec<_> = self
            .fields
            .iter()
            .filter_map(|field| {
                let value = data.get(&*field.name).or_else(|| default(&field.name));
                field.problem(value)
            })
            .collect();
        if self.deny_unknown_fields {
            let is_unknown =
                |name: &&String| !self.fields.iter().any(|field| field.name == ***name);
            let added = defaults.into_iter().flat_map(Map::keys);
            let added = added.filter(|name| !data.contains_key(*name));
            let unknown = data.keys().chain(added).filter(is_unknown);
            problems.extend(unknown.map(|name| FieldProblem::Unknown {
                field: name.clone(),
            }));
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(SchemaMismatch {
            event: Arc::clone(&self.name),
            problems,
        })
    }

    /// Converts the schema into a [JSON Schema](https://json-schema.org) of the data.
    pub fn to_json_schema(&self) -> Value {
        let properties: Map = self
            .fields
            .iter()
            .map(|field| (field.name.clone().into_owned(), field.to_json_schema()))
            .collect();
        let required: Vec<_> = self
            .fields
            .iter()
            .filter(|field| !field.optional)
            .map(|field| &field.name)
            .collect();
        let mut schema = json!({
            "title": self.name,
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": !self.deny_unknown_fields,
        });
        if !self.description.is_empty() {
            schema["description"] = json!(self.description);
        }
        schema
    }
}

/// One line for the event, and one for each field.
impl fmt::Display for EventSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.description.is_empty() {
            write!(f, ": {}", self.description)?;
        }
        f.write_str("\n")?;
        self.fields
            .iter()
            .try_for_each(|field| writeln!(f, "  {field}"))
    }
}

/// Generates the constructors of a field.
macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident = $variant:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(name: impl Into<Cow<'static, str>>) -> Self {
            EventField::new(name, FieldType::$variant)
        }
    )*};
}

impl EventField {
    /// Creates a required field of this type.
    pub fn new(name: impl Into<Cow<'static, str>>, field_type: FieldType) -> Self {
        EventField {
            name: name.into(),
            field_type,
            optional: false,
            one_of: Vec::new(),
            description: Cow::Borrowed(""),
        }
    }

    constructors! {
        /// Creates a required string.
        string = Text;
        /// Creates a required number without a fraction.
        integer = Integer;
        /// Creates a required number.
        number = Number;
        /// Creates a required boolean.
        boolean = Boolean;
        /// Creates a required array.
        array = Array;
        /// Creates a required object.
        object = Object;
        /// Creates a required field of any type.
        any = AnyValue;
    }

    /// Accepts data in which the field is missing or `null`.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// Accepts these values only. Numbers are compared by their values: `1` and `1.0` are equal.
    #[must_use]
    pub fn one_of<I>(mut self, values: I) -> Self
    where
        I: IntoIterator<Item: Into<Value>>,
    {
        self.one_of = values.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the description of the field.
    #[must_use]
    pub fn description(mut self, description: impl Into<Cow<'static, str>>) -> Self {
        self.description = description.into();
        self
    }

    /// Returns the problem of a value of this field, `None` if the value matches.
    fn problem(&self, value: Option<&Value>) -> Option<FieldProblem> {
        let field = || self.name.clone().into_owned();
        match value {
            None if self.optional => None,
            None => Some(FieldProblem::Missing { field: field() }),
            Some(Value::Null) if self.optional => None,
            Some(value) if !self.field_type.accepts(value) => Some(FieldProblem::Type {
                field: field(),
                expected: self.field_type,
                found: type_name(value),
            }),
            Some(value) if !self.one_of.is_empty() && !self.allows(value) => {
                Some(FieldProblem::Value {
                    field: field(),
                    allowed: self.one_of.clone(),
                })
            }
            Some(_) => None,
        }
    }

    /// Returns `true` if the value is one of the allowed values.
    fn allows(&self, value: &Value) -> bool {
        self.one_of.iter().any(|allowed| are_equal(allowed, value))
    }

    fn to_json_schema(&self) -> Value {
        let mut schema = Map::new();
        let name = self.field_type.name();
        match (self.field_type, self.optional) {
            (FieldType::AnyValue, _) => {}
            (_, false) => drop(schema.insert("type".to_owned(), json!(name))),
            (_, true) => drop(schema.insert("type".to_owned(), json!([name, "null"]))),
        }
        if !self.one_of.is_empty() {
            let mut values = self.one_of.clone();
            if self.optional && !values.contains(&Value::Null) {
                values.push(Value::Null);
            }
            schema.insert("enum".to_owned(), values.into());
        }
        if !self.description.is_empty() {
            schema.insert("description".to_owned(), json!(self.description));
        }
        schema.into()
    }
}

impl fmt::Display for EventField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.field_type)?;
        if self.optional {
            f.write_str(", optional")?;
        }
        if !self.one_of.is_empty() {
            write!(f, ", one of {}", listed(&self.one_of))?;
        }
        if !self.description.is_empty() {
            write!(f, ": {}", self.description)?;
        }
        Ok(())
    }
}

/// Returns `true` if two values are equal in JSON Schema, where `1` and `1.0` are the same number.
fn are_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (integer(one), integer(other)) {
            (Some(one), Some(other)) => one == other,
            _ => one == other,
        },
        (Value::Array(one), Value::Array(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.all(|(one, other)| are_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let mut fields = one.iter();
            let is_in = |name, value| other.get(name).is_some_and(|found| are_equal(value, found));
            one.len() == other.len() && fields.all(|(name, value)| is_in(name, value))
        }
        _ => one == other,
    }
}

/// Returns the value of a number that is an integer of at most 127 bits, however it is written.
fn integer(number: &Number) -> Option<i128> {
    if let Some(integer) = number.as_i64() {
        return Some(integer.into());
    }
    if let Some(integer) = number.as_u64() {
        return Some(integer.into());
    }
    let float = number.as_f64()?;
    // Exact, because the float has no fraction and is within the range.
    (float.fract() == 0.0 && float.abs() < 2_f64.powi(127)).then_some(float as i128)
}

/// Returns values as JSON, separated by commas.
fn listed(values: &[Value]) -> String {
    let values: Vec<_> = values.iter().map(Value::to_string).collect();
    values.join(", ")
}

/// Data of an event that do not match its [schema](EventSchema).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SchemaMismatch {
    /// Name of the event.
    pub event: Arc<str>,
    /// The problems; never empty.
    pub problems: Vec<FieldProblem>,
}

/// Difference between a field and its declaration. Contains no value of the data.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FieldProblem {
    /// A required field is missing.
    Missing {
        /// The field.
        field: String,
    },
    /// The schema does not have the field, and
    /// [denies unknown fields](EventSchema::deny_unknown_fields).
    Unknown {
        /// The field.
        field: String,
    },
    /// The value has another type.
    Type {
        /// The field.
        field: String,
        /// Type in the schema.
        expected: FieldType,
        /// Type of the value, with its article.
        found: &'static str,
    },
    /// The value is not one of the allowed values.
    Value {
        /// The field.
        field: String,
        /// The allowed values.
        allowed: Vec<Value>,
    },
}

impl fmt::Display for FieldProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldProblem::Missing { field } => write!(f, "field `{field}` is missing"),
            FieldProblem::Unknown { field } => {
                write!(f, "field `{}` is not declared", field.escape_debug())
            }
            FieldProblem::Type {
                field,
                expected,
                found,
            } => write!(f, "field `{field}` is {found}, declared as {expected}"),
            FieldProblem::Value { field, allowed } => {
                write!(f, "field `{field}` is not one of {}", listed(allowed))
            }
        }
    }
}

impl fmt::Display for SchemaMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the data of event `{}` do not match its schema",
            self.event
        )?;
        let separators = [": "].into_iter().chain(std::iter::repeat(", "));
        let mut problems = separators.zip(&self.problems);
        problems.try_for_each(|(separator, problem)| write!(f, "{separator}{problem}"))
    }
}

impl std::error::Error for SchemaMismatch {}

/// Maximum number of different problems that are logged for one event.
const MAX_LOGGED: usize = 64;

/// A schema, as the registry stores it.
#[derive(Debug)]
pub(super) struct DeclaredSchema {
    pub(super) schema: Arc<EventSchema>,
    /// The problems that were logged.
    logged: Mutex<HashSet<String>>,
}

impl DeclaredSchema {
    pub(super) fn new(schema: EventSchema) -> Self {
        DeclaredSchema {
            schema: Arc::new(schema),
            logged: Mutex::default(),
        }
    }

    /// Checks data, with the default values of their missing fields. Logs the problems of a schema
    /// that only warns.
    ///
    /// # Errors
    /// If the data do not match, unless the schema only warns.
    pub(super) fn check(&self, data: &Map, defaults: Option<&Map>) -> Result<(), SchemaMismatch> {
        match self.schema.check_layers(data, defaults) {
            Err(mismatch) if self.schema.warn_only => {
                self.log(&mismatch);
                Ok(())
            }
            checked => checked,
        }
    }

    /// Logs the mismatch if it has a problem that was not logged.
    fn log(&self, mismatch: &SchemaMismatch) {
        let mut logged = lock(&self.logged);
        let room = MAX_LOGGED.saturating_sub(logged.len());
        let problems = mismatch.problems.iter().take(room);
        let new = problems.filter(|problem| logged.insert(problem.to_string()));
        let has_new = new.count() > 0;
        drop(logged);
        if has_new {
            tracing::warn!(target: "hooks_runtime", event = &*mismatch.event, "{mismatch}");
        }
    }
}
