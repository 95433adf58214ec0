//! Floors in a folder: each file is replaced whole, and a floor is only ever raised above the one on disk (protocol R7).

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use pact_mandate::{Format, IssuerId, canonical, key::Thumbprint};
use serde::{Deserialize, Serialize};

use super::{Floor, FloorError, FloorStore, Mark};
use crate::{
    body::Body,
    disk,
    limits::{MAX_BODY_BYTES, MAX_FLOOR_BYTES},
    list::ListVersion,
    name::BodyName,
};

/// A folder of floors. For every list there is one `.floor` file (canonical JSON), and the bodies that it names: those are
/// stored first, so that a floor never names what is not there. Who reads or raises a floor holds the lock of the folder,
/// so several processes, and several lists at once, may share it.
#[derive(Clone, Debug)]
pub struct FloorFolder {
    folder: PathBuf,
}

#[derive(PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FloorRecord {
    entries: BodyName,
    issuer: IssuerId,
    kept: Option<BodyName>,
    key: String,
    kind: Format,
    marks: BTreeMap<String, MarkRecord>,
    typ: String,
}

#[derive(PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MarkRecord {
    entries: BodyName,
    version: ListVersion,
}

const TYP: &str = "pact-floor/1";

impl FloorFolder {
    /// The folder, which is made when it is not there yet.
    pub fn open(folder: impl Into<PathBuf>) -> Result<FloorFolder, FloorError> {
        let folder = folder.into();
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        Ok(FloorFolder { folder })
    }

    fn stem(issuer: &IssuerId, kind: Format) -> String {
        // An issuer's id may hold any printable character, a file name may not.
        let name = BodyName::of(format!("{kind}/{issuer}").as_bytes()).to_string();
        format!("{kind}-{}", name.chars().take(32).collect::<String>())
    }

    fn floor_path(&self, issuer: &IssuerId, kind: Format) -> PathBuf {
        self.folder.join(format!("{}.floor", Self::stem(issuer, kind)))
    }

    fn body_file(stem: &str, name: &BodyName) -> String {
        format!("{stem}.{name}.body")
    }

    fn read_body(&self, stem: &str, name: &BodyName) -> Result<Body, FloorError> {
        let path = self.folder.join(Self::body_file(stem, name));
        let damaged = || FloorError::Damaged { path: path.clone() };
        let bytes = read(&path, MAX_BODY_BYTES)?.ok_or_else(damaged)?;
        let body = Body::from_bytes(&bytes).map_err(|_| damaged())?;
        if body.name() == name { Ok(body) } else { Err(damaged()) }
    }

    fn store_body(&self, stem: &str, body: &Body) -> Result<(), FloorError> {
        let path = self.folder.join(Self::body_file(stem, body.name()));
        if path.exists() { Ok(()) } else { write(&path, &body.to_bytes()) }
    }

    /// The lock's file. A process that dies releases the lock with it.
    fn lock_file(&self) -> Result<(File, PathBuf), FloorError> {
        let path = self.folder.join("lock");
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(at(&path))?;
        Ok((file, path))
    }

    fn record(&self, issuer: &IssuerId, kind: Format) -> Result<Option<FloorRecord>, FloorError> {
        let path = self.floor_path(issuer, kind);
        let Some(bytes) = read(&path, MAX_FLOOR_BYTES)? else { return Ok(None) };
        let damaged = || FloorError::Damaged { path: path.clone() };
        let record: FloorRecord = canonical::from_bytes(&bytes).map_err(|_| damaged())?;
        let right = record.typ == TYP && record.issuer == *issuer && record.kind == kind;
        if right { Ok(Some(record)) } else { Err(damaged()) }
    }

    /// The floor that a record stands for, with the bodies that it names.
    fn floor_of(&self, record: FloorRecord) -> Result<Floor, FloorError> {
        let path = self.floor_path(&record.issuer, record.kind);
        let stem = Self::stem(&record.issuer, record.kind);
        let body = self.read_body(&stem, &record.entries)?;
        let kept = record.kept.map(|name| self.read_body(&stem, &name)).transpose()?;
        let kept = kept.unwrap_or_else(|| Body::of([]));
        record.into_floor(body, kept).ok_or(FloorError::Damaged { path })
    }

    fn store(&self, issuer: &IssuerId, kind: Format, floor: &Floor) -> Result<(), FloorError> {
        let stem = Self::stem(issuer, kind);
        self.store_body(&stem, &floor.body)?;
        if !floor.kept.entries().is_empty() {
            self.store_body(&stem, &floor.kept)?;
        }
        let record = FloorRecord::of(issuer, kind, floor);
        let bytes = canonical::to_bytes(&record).map_err(|_| FloorError::Unwritable)?;
        write(&self.floor_path(issuer, kind), &bytes)?;
        self.sweep(&stem, &record)
    }

    /// Removes the bodies that the floor no longer names. What cannot be removed is only in the way.
    fn sweep(&self, stem: &str, record: &FloorRecord) -> Result<(), FloorError> {
        let named: Vec<String> = [Some(record.entries), record.kept]
            .iter()
            .flatten()
            .map(|name| Self::body_file(stem, name))
            .collect();
        for file in fs::read_dir(&self.folder).map_err(at(&self.folder))? {
            let file = file.map_err(at(&self.folder))?;
            let Ok(name) = file.file_name().into_string() else { continue };
            if is_left_over(&name, stem) || (is_body(&name, stem) && !named.contains(&name)) {
                fs::remove_file(file.path()).map_err(at(&file.path()))?;
            }
        }
        Ok(())
    }
}

impl FloorStore for FloorFolder {
    fn load(&self, issuer: &IssuerId, kind: Format) -> Result<Option<Floor>, FloorError> {
        let (lock, path) = self.lock_file()?;
        lock.lock_shared().map_err(at(&path))?;
        self.record(issuer, kind)?.map(|record| self.floor_of(record)).transpose()
    }

    fn raise(
        &self,
        issuer: &IssuerId,
        kind: Format,
        base: Option<&Floor>,
        floor: &Floor,
    ) -> Result<Floor, FloorError> {
        let (lock, path) = self.lock_file()?;
        lock.lock().map_err(at(&path))?;
        let base = base.map(|base| FloorRecord::of(issuer, kind, base));
        let raised = match self.record(issuer, kind)? {
            // Somebody else has raised it, or this one was never told of it.
            Some(stored) if Some(&stored) != base.as_ref() => floor.joined(&self.floor_of(stored)?, kind)?,
            _ => floor.clone(),
        };
        self.store(issuer, kind, &raised)?;
        Ok(raised)
    }
}

impl FloorRecord {
    fn of(issuer: &IssuerId, kind: Format, floor: &Floor) -> FloorRecord {
        let mark = |(key, mark): (&Thumbprint, &Mark)| {
            (key.to_string(), MarkRecord { entries: mark.entries, version: mark.version })
        };
        FloorRecord {
            entries: *floor.body.name(),
            issuer: issuer.clone(),
            kept: (!floor.kept.entries().is_empty()).then(|| *floor.kept.name()),
            key: floor.key.to_string(),
            kind,
            marks: floor.marks.iter().map(mark).collect(),
            typ: TYP.to_owned(),
        }
    }

    /// `None` when the record contradicts itself.
    fn into_floor(self, body: Body, kept: Body) -> Option<Floor> {
        let key: Thumbprint = self.key.parse().ok()?;
        let mark = |(key, mark): (String, MarkRecord)| {
            Some((key.parse().ok()?, Mark { version: mark.version, entries: mark.entries }))
        };
        let marks: BTreeMap<Thumbprint, Mark> = self.marks.into_iter().map(mark).collect::<Option<_>>()?;
        let consistent = marks.get(&key)?.entries == *body.name();
        consistent.then(|| Floor { key, marks, body: Arc::new(body), kept: Arc::new(kept) })
    }
}

fn is_body(file: &str, stem: &str) -> bool {
    let below = file.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.'));
    below && Path::new(file).extension().is_some_and(|extension| extension == "body")
}

/// What a writer that was killed has left: who holds the lock is the only writer.
fn is_left_over(file: &str, stem: &str) -> bool {
    let hidden = file.strip_prefix('.').and_then(|file| file.strip_prefix(stem));
    let is_new = Path::new(file).extension().is_some_and(|extension| extension == "new");
    is_new && hidden.is_some_and(|rest| rest.starts_with('.'))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), FloorError> {
    disk::replace(path, bytes, disk::PRIVATE).map_err(at(path))
}

/// The content; `None` when there is no such file.
fn read(path: &Path, most: u64) -> Result<Option<Vec<u8>>, FloorError> {
    match disk::read(path, most) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            Err(FloorError::Damaged { path: path.to_owned() })
        }
        Err(error) => Err(at(path)(error)),
    }
}

fn at(path: &Path) -> impl Fn(io::Error) -> FloorError {
    let path = path.to_owned();
    move |source| FloorError::Io { path: path.clone(), source }
}

#[cfg(test)]
mod tests;
