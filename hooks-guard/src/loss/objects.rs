//! Objects of a repository. In: an id. Out: the object's kind and its bytes, within limits.
//!
//! Packs are read at their positions and never mapped into memory: a process that shortens a mapped
//! file while it is read ends the reader with a signal. Files other than regular ones are not opened.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use gix_hash::{Kind, ObjectId, oid};
use gix_object::{CommitRefIter, Kind as ObjectKind};
use gix_zlib::Inflate;

use super::settings::read_bytes;
use crate::files::open;

/// Maximum size of an object, in bytes.
const MAX_OBJECT_BYTES: usize = 8 << 20;
/// Maximum number of packs of a repository.
const MAX_PACKS: usize = 256;
/// Maximum number of other directories with objects, which a clone may share.
const MAX_ALTERNATES: usize = 8;
/// Maximum number of differences from which an object in a pack is made.
const MAX_DELTAS: usize = 512;
/// Maximum size of the differences from which an object is made, in bytes.
const MAX_DELTA_BYTES: usize = 32 << 20;
/// Start of an index of a pack in version 2, the only one that git writes.
const INDEX_START: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
/// Bytes before the sorted ids of an index of a pack: its start and the counts by first byte.
const INDEX_HEADER: u64 = 8 + 256 * 4;

/// Reader of the objects of one repository.
#[derive(Debug)]
pub(super) struct Objects {
    kind: Kind,
    folders: Vec<PathBuf>,
    packs: Vec<Pack>,
}

/// A pack with its index.
#[derive(Debug)]
struct Pack {
    kind: Kind,
    index: File,
    data: File,
    /// Numbers of objects whose first byte is at most the position.
    counts: [u32; 256],
}

/// Object in a pack.
enum PackEntry {
    Whole(ObjectKind, Vec<u8>),
    /// A difference to the object at a position of the pack.
    FromPosition(u64, Vec<u8>),
    /// A difference to an object with an id.
    FromId(ObjectId, Vec<u8>),
}

impl Objects {
    /// Opens the objects of a repository with this shared directory.
    pub(super) fn open(shared: &Path, kind: Kind) -> Self {
        let mut folders = vec![shared.join("objects")];
        let mut at = 0;
        while let Some(folder) = folders.get(at).cloned() {
            at += 1;
            let list = read_bytes(&folder.join("info/alternates"), 1 << 16).unwrap_or_default();
            let list = String::from_utf8_lossy(&list).into_owned();
            for line in list.lines().filter(|line| !line.starts_with('#')) {
                let alternate = folder.join(line);
                if folders.len() <= MAX_ALTERNATES && !folders.contains(&alternate) {
                    folders.push(alternate);
                }
            }
        }
        let mut packs = Vec::new();
        for folder in &folders {
            let entries = std::fs::read_dir(folder.join("pack")).into_iter().flatten();
            let names = entries.flatten().map(|entry| entry.path());
            let is_index = |path: &PathBuf| path.extension().is_some_and(|end| end == "idx");
            let mut names: Vec<PathBuf> = names.filter(is_index).take(MAX_PACKS).collect();
            names.sort();
            packs.extend(names.iter().filter_map(|index| Pack::open(index, kind)));
        }
        Self {
            kind,
            folders,
            packs,
        }
    }

    /// Returns an object. `None` if it is missing, too large or damaged.
    pub(super) fn find(&self, id: &oid) -> Option<(ObjectKind, Vec<u8>)> {
        self.find_in_packs(id, 0).or_else(|| self.find_loose(id))
    }

    /// Returns an object of the kind.
    pub(super) fn find_kind(&self, id: &oid, kind: ObjectKind) -> Option<Vec<u8>> {
        let (found, bytes) = self.find(id)?;
        (found == kind).then_some(bytes)
    }

    /// Returns the tree of a commit.
    pub(super) fn tree_of(&self, commit: ObjectId) -> Option<ObjectId> {
        let bytes = self.find_kind(&commit, ObjectKind::Commit)?;
        CommitRefIter::from_bytes(&bytes, self.kind).tree_id().ok()
    }

    fn find_in_packs(&self, id: &oid, depth: usize) -> Option<(ObjectKind, Vec<u8>)> {
        self.packs.iter().find_map(|pack| {
            let position = pack.position(id)?;
            self.resolve(pack, position, depth)
        })
    }

    /// Returns the object at a position of a pack.
    fn resolve(
        &self,
        pack: &Pack,
        mut position: u64,
        depth: usize,
    ) -> Option<(ObjectKind, Vec<u8>)> {
        let mut deltas: Vec<Vec<u8>> = Vec::new();
        let mut bytes = 0;
        let (kind, mut object) = loop {
            let delta = match pack.entry(position)? {
                PackEntry::Whole(kind, object) => break (kind, object),
                PackEntry::FromPosition(base, delta) => {
                    position = base;
                    delta
                }
                PackEntry::FromId(base, delta) => match pack.position(&base) {
                    Some(base) => {
                        position = base;
                        delta
                    }
                    // A pack of a clone may have differences to objects of another pack.
                    None if depth == 0 => {
                        deltas.push(delta);
                        break self
                            .find_in_packs(&base, depth + 1)
                            .or_else(|| self.find_loose(&base))?;
                    }
                    None => return None,
                },
            };
            bytes += delta.len();
            deltas.push(delta);
            if deltas.len() > MAX_DELTAS || bytes > MAX_DELTA_BYTES {
                return None;
            }
        };
        for delta in deltas.iter().rev() {
            object = apply(&object, delta)?;
        }
        Some((kind, object))
    }

    fn find_loose(&self, id: &oid) -> Option<(ObjectKind, Vec<u8>)> {
        let hex = id.to_hex().to_string();
        let (start, rest) = hex.split_at(2);
        let packed = self.folders.iter().find_map(|folder| {
            read_bytes(&folder.join(start).join(rest), MAX_OBJECT_BYTES as u64)
        })?;
        let mut head = [0; 64];
        let (_, _, written) = Inflate::default().once(&packed, &mut head).ok()?;
        let (kind, size, start) = gix_object::decode::loose_header(&head[..written]).ok()?;
        let size = usize::try_from(size).ok()?;
        if size > MAX_OBJECT_BYTES || id.kind() != self.kind {
            return None;
        }
        let mut object = inflate(&packed, start + size)?;
        object.drain(..start);
        Some((kind, object))
    }
}

impl Pack {
    fn open(index: &Path, kind: Kind) -> Option<Self> {
        let data = open(&index.with_extension("pack")).ok()?;
        let index = open(index).ok()?;
        let header = read_at(&index, 0, INDEX_HEADER as usize)?;
        let (start, rest) = header.split_at_checked(INDEX_START.len())?;
        if start != INDEX_START || rest.len() < 1024 {
            return None;
        }
        let mut counts = [0; 256];
        for (count, bytes) in counts.iter_mut().zip(rest.chunks_exact(4)) {
            *count = u32::from_be_bytes(bytes.try_into().ok()?);
        }
        counts.is_sorted().then_some(Self {
            kind,
            index,
            data,
            counts,
        })
    }

    /// Returns the position of an object in the pack.
    fn position(&self, id: &oid) -> Option<u64> {
        let length = self.kind.len_in_bytes() as u64;
        let first = usize::from(id.first_byte());
        let mut from = match first {
            0 => 0,
            _ => u64::from(self.counts[first - 1]),
        };
        let mut to = u64::from(self.counts[first]);
        let found = loop {
            if from >= to {
                return None;
            }
            let middle = from.midpoint(to);
            let at = INDEX_HEADER + middle * length;
            let bytes = read_at(&self.index, at, length as usize)?;
            match bytes.as_slice().cmp(id.as_bytes()) {
                std::cmp::Ordering::Equal if bytes.len() as u64 == length => break middle,
                std::cmp::Ordering::Less => from = middle + 1,
                _ => to = middle,
            }
        };
        // After the ids: a checksum of each object, then its position, then large positions.
        let count = u64::from(self.counts[255]);
        let positions = INDEX_HEADER + count * (length + 4);
        let number = |at: u64, size: usize| {
            let bytes = read_at(&self.index, at, size).filter(|bytes| bytes.len() == size)?;
            let number = bytes
                .iter()
                .fold(0, |number, byte| number << 8 | u64::from(*byte));
            Some(number)
        };
        let position = number(positions + found * 4, 4)?;
        const IS_LARGE: u64 = 1 << 31;
        match position & IS_LARGE {
            0 => Some(position),
            _ => number(positions + count * 4 + (position ^ IS_LARGE) * 8, 8),
        }
    }

    /// Reads the entry at a position.
    fn entry(&self, position: u64) -> Option<PackEntry> {
        let header = read_at(&self.data, position, 64)?;
        let mut bytes = header.iter().copied();
        let first = bytes.next()?;
        let mut size = usize::from(first & 0xf);
        let mut shift = 4;
        let mut last = first;
        while last & 0x80 != 0 {
            last = bytes.next()?;
            // No object with more bits is small enough.
            if shift > 32 {
                return None;
            }
            size |= usize::from(last & 0x7f) << shift;
            shift += 7;
        }
        let mut read = header.len() - bytes.len();
        let mut base = None;
        let mut base_id = None;
        let kind = match first >> 4 & 7 {
            1 => Some(ObjectKind::Commit),
            2 => Some(ObjectKind::Tree),
            3 => Some(ObjectKind::Blob),
            4 => Some(ObjectKind::Tag),
            6 => {
                let mut byte = bytes.next()?;
                let mut distance = u64::from(byte & 0x7f);
                while byte & 0x80 != 0 {
                    byte = bytes.next()?;
                    distance = (distance + 1).checked_mul(128)? | u64::from(byte & 0x7f);
                }
                read = header.len() - bytes.len();
                base = Some(position.checked_sub(distance).filter(|_| distance > 0)?);
                None
            }
            7 => {
                let id = header.get(read..read + self.kind.len_in_bytes())?;
                base_id = Some(ObjectId::try_from(id).ok()?);
                read += self.kind.len_in_bytes();
                None
            }
            _ => return None,
        };
        if size > MAX_OBJECT_BYTES {
            return None;
        }
        // Compression adds at most a few bytes to each block.
        let compressed = read_at(&self.data, position + read as u64, size + size / 256 + 1024)?;
        let bytes = inflate(&compressed, size)?;
        match (kind, base, base_id) {
            (Some(kind), ..) => Some(PackEntry::Whole(kind, bytes)),
            (_, Some(base), _) => Some(PackEntry::FromPosition(base, bytes)),
            (_, _, base_id) => Some(PackEntry::FromId(base_id?, bytes)),
        }
    }
}

/// Returns the bytes at a position, at most `count`.
fn read_at(file: &File, position: u64, count: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; count];
    let mut read = 0;
    while read < count {
        let at = position.checked_add(read as u64)?;
        match read_once(file, &mut bytes[read..], at).ok()? {
            0 => break,
            more => read += more,
        }
    }
    bytes.truncate(read);
    Some(bytes)
}

#[cfg(unix)]
fn read_once(file: &File, bytes: &mut [u8], position: u64) -> std::io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, position)
}

#[cfg(not(unix))]
fn read_once(mut file: &File, bytes: &mut [u8], position: u64) -> std::io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(position))?;
    file.read(bytes)
}

/// Returns the first `size` decompressed bytes, if there are that many.
fn inflate(compressed: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; size];
    let (_, _, written) = Inflate::default().once(compressed, &mut bytes).ok()?;
    (written == size).then_some(bytes)
}

/// Takes the first byte of a text.
fn byte(bytes: &mut &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*first)
}

/// Takes a number of seven bits a byte, the lowest first.
fn number(bytes: &mut &[u8]) -> Option<usize> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let next = byte(bytes)?;
        // No object with more bits is small enough.
        if shift > 32 {
            return None;
        }
        number |= usize::from(next & 0x7f) << shift;
        shift += 7;
        if next & 0x80 == 0 {
            return Some(number);
        }
    }
}

/// Applies a difference to an object.
fn apply(base: &[u8], mut delta: &[u8]) -> Option<Vec<u8>> {
    let (before, after) = (number(&mut delta)?, number(&mut delta)?);
    if before != base.len() || after > MAX_OBJECT_BYTES {
        return None;
    }
    let mut object = Vec::with_capacity(after);
    while let Some(step) = byte(&mut delta) {
        if step & 0x80 == 0 {
            // Bytes of the difference itself; a step without bytes is invalid.
            let (own, rest) = delta.split_at_checked(usize::from(step))?;
            object.extend_from_slice(Some(own).filter(|own| !own.is_empty())?);
            delta = rest;
        } else {
            let mut field = |bits: Range<u8>| {
                let mut field = 0;
                for (at, bit) in bits.enumerate() {
                    if step & 1 << bit != 0 {
                        field |= usize::from(byte(&mut delta)?) << (8 * at);
                    }
                }
                Some(field)
            };
            let (from, count) = (field(0..4)?, field(4..7)?);
            let count = if count == 0 { 0x1_0000 } else { count };
            object.extend_from_slice(base.get(from..from.checked_add(count)?)?);
        }
        if object.len() > after {
            return None;
        }
    }
    (object.len() == after).then_some(object)
}
