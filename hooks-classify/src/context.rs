//! Context of the caller: a command, its classification and the name of a program in, an equal or
//! stronger class out.
//!
//! The context is not trusted: it can only make a class stronger.

use crate::classification::{Classification, Decision};
use crate::model::effect::Crud;

/// Returns a command as the words of the program that the context names: `git tag -d v1` for
/// `tag -d v1` in the context `git`.
///
/// Returns `None` if the command is understood without a context, so that a context never makes a
/// read need confirmation.
pub(super) fn command_in_context(
    command: &str,
    context: Option<&str>,
    classification: &Classification,
    known: impl Fn(&str) -> bool,
) -> Option<String> {
    let program = context?.trim();
    let may_be_raised = !classification.understood() && classification.crud < Crud::Delete;
    (may_be_raised && known(program)).then(|| format!("{program} {command}"))
}

/// Returns a classification, raised to the classification on the command as the words of a program.
pub(super) fn raise_by_context(
    classification: Classification,
    program: &str,
    inner: &Classification,
) -> Classification {
    let Some(deciding) = inner.findings.first() else {
        return classification;
    };
    if !inner.understood() || inner.crud <= classification.crud {
        return classification;
    }
    Classification {
        crud: inner.crud,
        decision: Decision::RequiresConfirmation,
        reasoning: format!(
            "read as a command of `{program}`, the context: {}",
            deciding.reason
        ),
        explanation: format!(
            "In the context of `{program}`: {}. {}",
            deciding.reason, classification.explanation
        ),
        ..classification
    }
}

#[cfg(test)]
mod tests {
    use crate::model::effect::Crud;
    use crate::{Classification, Classifier, Decision};

    fn within(command: &str, context: &str) -> Classification {
        let classifier = Classifier::new();
        let classification = classifier
            .classify_in_context(command, Some(context))
            .unwrap();
        let plain = classifier.classify(command).unwrap();
        assert!(classification.crud >= plain.crud, "{command}");
        assert_eq!(classification.decision, plain.decision, "{command}");
        classification
    }

    #[test]
    fn p_01_an_unknown_command_is_classified_as_one_of_the_context() {
        for (command, context, class) in [
            ("tag -d v1", "git", Crud::Delete),
            ("push --force", " git ", Crud::Delete),
            ("push", "git", Crud::Update),
            ("delete pod web", "kubectl", Crud::Delete),
            ("destroy", "terraform", Crud::Delete),
        ] {
            let classification = within(command, context);
            assert_eq!(classification.crud, class, "{command}");
            assert_eq!(classification.decision, Decision::RequiresConfirmation);
            assert!(classification.confidence <= 0.6, "{classification:?}");
        }
        let reasoning = within("tag -d v1", "git").reasoning;
        let start = "read as a command of `git`, the context: `git tag` with `-d` ";
        assert!(reasoning.starts_with(start), "{reasoning}");
    }

    #[test]
    fn p_01_the_context_does_not_change_an_understood_command() {
        let classifier = Classifier::new();
        for command in [
            "ls -la",
            "test -f a",
            "rm x",
            "git status",
            "top",
            "mkdir a",
        ] {
            for context in ["git", "npm", "docker", "kubectl", "production", ""] {
                let plain = classifier.classify(command).unwrap();
                let classification = within(command, context);
                assert_eq!(
                    (classification.crud, classification.reasoning),
                    (plain.crud, plain.reasoning)
                );
            }
        }
    }

    #[test]
    fn p_01_the_context_never_lowers_or_allows_an_unknown_command() {
        for (command, context) in [
            ("get pods", "kubectl"),
            ("log --oneline", "git"),
            ("frobnicate", "git"),
            ("frobnicate", "git log #"),
            ("frobnicate", "echo"),
            ("frobnicate", "nothing that is known"),
            ("if true; then", "git"),
        ] {
            let classification = within(command, context);
            assert_eq!(classification.crud, Crud::Create, "{command}");
            assert_eq!(
                classification.decision,
                Decision::RequiresConfirmation,
                "{command}"
            );
        }
    }
}
