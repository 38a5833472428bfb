//! One transcript. In: a file. Out: its calls one after another, with the number of lines that cannot be read.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use super::call::{CallBuffer, TranscriptCall};
use super::database::{DatabaseRow, TranscriptDatabase};
use super::document::read_document;
use super::formats::{
    DATABASE_FORMATS, DOCUMENT_FORMATS, DatabaseFormat, DocumentFormat, EntryReader,
    FOLDER_FORMATS, FolderFormat, JsonObject, LINE_FORMATS,
};
use super::lines::{LineReader, MAX_LINE_BYTES, TranscriptLine};
use crate::files;
use crate::protocol::Agent;

/// Size of the buffer of a file, in bytes.
const BUFFER_BYTES: usize = 64 << 10;

/// A transcript that is read.
#[derive(Debug)]
pub struct Transcript {
    file: PathBuf,
    source: TranscriptSource,
    reader: Option<FormatReader>,
    calls: CallBuffer,
    problems: TranscriptProblems,
}

/// The reader of a recognized format.
struct FormatReader {
    agent: Agent,
    entries: Box<dyn EntryReader>,
}

impl std::fmt::Debug for FormatReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("FormatReader").field(&self.agent).finish()
    }
}

/// Part of a transcript that was not read yet.
#[derive(Debug)]
enum TranscriptSource {
    Lines(LineReader<BufReader<File>>),
    Document(BufReader<File>, &'static DocumentFormat),
    /// The files of a folder, the last one first.
    Files(Vec<PathBuf>),
    Database(PathBuf, &'static DatabaseFormat),
    Rows(Box<TranscriptDatabase>),
    End,
}

/// Parts of transcripts that could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TranscriptProblems {
    /// Lines, rows and files that are no JSON, such as one that was not written to its end.
    pub broken: usize,
    /// Lines that are too long.
    pub too_long: usize,
}

impl Transcript {
    /// Opens a transcript.
    ///
    /// # Errors
    /// If the file cannot be read, or is no regular file.
    pub fn open(file: &Path) -> io::Result<Self> {
        let mut reader = None;
        let source = match kind(file) {
            Some(FileKind::Database(format)) => {
                files::open(file)?;
                TranscriptSource::Database(file.to_owned(), format)
            }
            Some(FileKind::Document(format)) => {
                let input = BufReader::with_capacity(BUFFER_BYTES, files::open(file)?);
                TranscriptSource::Document(input, format)
            }
            Some(FileKind::Folder(format)) => {
                reader = Some(FormatReader {
                    agent: format.agent,
                    entries: (format.reader)(file),
                });
                TranscriptSource::Files(siblings(file)?)
            }
            Some(FileKind::Lines) | None => {
                let input = BufReader::with_capacity(BUFFER_BYTES, files::open(file)?);
                TranscriptSource::Lines(LineReader::new(input, MAX_LINE_BYTES))
            }
        };
        Ok(Self {
            file: file.to_owned(),
            source,
            reader,
            calls: CallBuffer::default(),
            problems: TranscriptProblems::default(),
        })
    }

    /// Returns the agent that wrote the transcript, if its format is recognized in the part read so far.
    #[must_use]
    pub fn agent(&self) -> Option<Agent> {
        self.reader.as_ref().map(|reader| reader.agent)
    }

    /// Returns what could not be read so far.
    #[must_use]
    pub fn problems(&self) -> TranscriptProblems {
        self.problems
    }

    /// Returns the next call, and `None` at the end.
    ///
    /// # Errors
    /// If the file cannot be read any further.
    pub async fn next_call(&mut self) -> io::Result<Option<TranscriptCall>> {
        loop {
            if let Some(call) = self.calls.next() {
                return Ok(Some(call));
            }
            if matches!(self.source, TranscriptSource::End) {
                return Ok(None);
            }
            if !self.read_on().await? {
                self.source = TranscriptSource::End;
                self.calls.close();
            }
        }
    }

    /// Reads the next part. Returns `false` at the end.
    async fn read_on(&mut self) -> io::Result<bool> {
        match &mut self.source {
            TranscriptSource::End => Ok(false),
            TranscriptSource::Lines(lines) => match lines.next_line()? {
                None => Ok(false),
                Some(TranscriptLine::TooLong) => {
                    self.problems.too_long += 1;
                    Ok(true)
                }
                Some(TranscriptLine::Text(line)) => {
                    if line.iter().all(u8::is_ascii_whitespace) {
                        return Ok(true);
                    }
                    let entry = serde_json::from_slice::<JsonObject>(line);
                    match entry {
                        Ok(entry) => self.read_line(&entry),
                        Err(_) => self.problems.broken += 1,
                    }
                    Ok(true)
                }
            },
            TranscriptSource::Document(input, format) => {
                let mut entries = (format.reader)(&self.file);
                let mut found = false;
                let calls = &mut self.calls;
                let read = read_document(input, format.entries, &mut |entry| {
                    // An object with an id only is no entry.
                    found |= entry.len() > 1;
                    entries.read(entry, calls);
                });
                if read.is_err() {
                    self.problems.broken += 1;
                }
                if found || read.is_ok_and(|has_list| has_list) {
                    let agent = format.agent;
                    self.reader = Some(FormatReader { agent, entries });
                }
                Ok(false)
            }
            TranscriptSource::Files(files) => {
                let Some(file) = files.pop() else {
                    return Ok(false);
                };
                let input = files::open(&file)?.take(MAX_LINE_BYTES as u64);
                match serde_json::from_reader(BufReader::new(input)) {
                    Ok(entry) => self.read_line(&entry),
                    Err(_) => self.problems.broken += 1,
                }
                Ok(true)
            }
            TranscriptSource::Database(file, format) => {
                let (file, format) = (file.clone(), *format);
                let opened = TranscriptDatabase::open(&file, format).await;
                let mut database = opened.map_err(io::Error::other)?;
                let rows = match database.next_rows().await {
                    // A database of another program.
                    Err(sqlx::Error::Database(_)) => return Ok(false),
                    rows => rows.map_err(io::Error::other)?,
                };
                self.source = TranscriptSource::Rows(Box::new(database));
                self.reader = Some(FormatReader {
                    agent: format.agent,
                    entries: (format.reader)(),
                });
                self.read_rows(rows);
                Ok(true)
            }
            TranscriptSource::Rows(database) => {
                let rows = database.next_rows().await.map_err(io::Error::other)?;
                let is_end = rows.is_empty();
                self.read_rows(rows);
                Ok(!is_end)
            }
        }
    }

    fn read_rows(&mut self, rows: Vec<DatabaseRow>) {
        for row in rows {
            match (row, &mut self.reader) {
                (Some(entry), Some(reader)) => reader.entries.read(&entry, &mut self.calls),
                _ => self.problems.broken += 1,
            }
        }
    }

    fn read_line(&mut self, entry: &JsonObject) {
        if self.reader.is_none() {
            let mut formats = LINE_FORMATS.iter();
            let found = formats.find(|format| (format.recognizes)(entry, &self.file));
            self.reader = found.map(|format| FormatReader {
                agent: format.agent,
                entries: (format.reader)(&self.file),
            });
        }
        if let Some(reader) = &mut self.reader {
            reader.entries.read(entry, &mut self.calls);
        }
    }
}

/// Returns the files in the folder of a file, the last one first.
fn siblings(file: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let entries = folder.read_dir()?.flatten().map(|entry| entry.path());
    let is_event = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    let mut files: Vec<PathBuf> = entries.filter(is_event).collect();
    files.sort_by(|one, other| other.cmp(one));
    Ok(files)
}

/// Kind of a file that can be a transcript.
#[derive(Clone, Copy, Debug)]
pub(super) enum FileKind {
    Lines,
    Document(&'static DocumentFormat),
    Folder(&'static FolderFormat),
    Database(&'static DatabaseFormat),
}

/// Returns the kind of a file by its name; `None` if no transcript has such a name.
pub(super) fn kind(file: &Path) -> Option<FileKind> {
    let name = file.file_name()?.to_str()?;
    if let Some(format) = DATABASE_FORMATS.iter().find(|format| format.file == name) {
        return Some(FileKind::Database(format));
    }
    if name.ends_with(".jsonl") {
        return Some(FileKind::Lines);
    }
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default();
    let mut folders = FOLDER_FORMATS.iter();
    if let Some(format) =
        folders.find(|format| folder == format.folder && name.starts_with(format.first))
    {
        return Some(FileKind::Folder(format));
    }
    let mut documents = DOCUMENT_FORMATS.iter();
    let document = documents.find(|format| {
        name.ends_with(format.ending) && (format.folder.is_empty() || folder == format.folder)
    });
    document.map(FileKind::Document)
}
