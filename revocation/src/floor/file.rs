//! Floors in a folder: each file is written beside its place, synced, renamed into it, and the folder synced (protocol R7).

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use pact_mandate::{Format, IssuerId, canonical, key::Thumbprint};
use serde::{Deserialize, Serialize};

use super::{Floor, FloorError, FloorStore, Mark};
use crate::{
    body::Body,
    limits::{MAX_BODY_BYTES, MAX_FLOOR_BYTES},
    list::ListVersion,
    name::BodyName,
};

/// A folder of floors, of one process. For every list there is one `.floor` file (canonical JSON), and the bodies that it
/// names: those are stored first, so that a floor never names what is not there.
#[derive(Clone, Debug)]
pub struct FloorFolder {
    folder: PathBuf,
}

#[derive(Serialize, Deserialize)]
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

#[derive(Serialize, Deserialize)]
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
        if path.exists() { Ok(()) } else { self.write(&path, &body.to_bytes()) }
    }

    /// The file is whole under its name, or not there under it, whenever the power fails.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), FloorError> {
        let beside = path.with_extension("new");
        let mut file = File::create(&beside).map_err(at(&beside))?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(at(&beside))?;
        fs::rename(&beside, path).map_err(at(path))?;
        File::open(&self.folder).and_then(|folder| folder.sync_all()).map_err(at(&self.folder))
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
            let ours = is_body(&name, stem);
            if ours && !named.contains(&name) {
                fs::remove_file(file.path()).map_err(at(&file.path()))?;
            }
        }
        Ok(())
    }
}

impl FloorStore for FloorFolder {
    fn load(&self, issuer: &IssuerId, kind: Format) -> Result<Option<Floor>, FloorError> {
        let path = self.floor_path(issuer, kind);
        let Some(bytes) = read(&path, MAX_FLOOR_BYTES)? else { return Ok(None) };
        let damaged = || FloorError::Damaged { path: path.clone() };
        let record: FloorRecord = canonical::from_bytes(&bytes).map_err(|_| damaged())?;
        if record.typ != TYP || record.issuer != *issuer || record.kind != kind {
            return Err(damaged());
        }
        let stem = Self::stem(issuer, kind);
        let body = self.read_body(&stem, &record.entries)?;
        let kept = record.kept.map(|name| self.read_body(&stem, &name)).transpose()?;
        record.into_floor(body, kept.unwrap_or_else(|| Body::of([]))).map(Some).ok_or_else(damaged)
    }

    fn raise(&self, issuer: &IssuerId, kind: Format, floor: &Floor) -> Result<(), FloorError> {
        let stem = Self::stem(issuer, kind);
        self.store_body(&stem, &floor.body)?;
        if !floor.kept.entries().is_empty() {
            self.store_body(&stem, &floor.kept)?;
        }
        let record = FloorRecord::of(issuer, kind, floor);
        let bytes = canonical::to_bytes(&record).map_err(|_| FloorError::Unwritable)?;
        self.write(&self.floor_path(issuer, kind), &bytes)?;
        self.sweep(&stem, &record)
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

/// The content; `None` when there is no such file.
fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, FloorError> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(at(path))?,
    };
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(at(path))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= limit) {
        Ok(Some(bytes))
    } else {
        Err(FloorError::Damaged { path: path.to_owned() })
    }
}

fn at(path: &Path) -> impl Fn(io::Error) -> FloorError {
    let path = path.to_owned();
    move |source| FloorError::Io { path: path.clone(), source }
}

#[cfg(test)]
mod tests;
