//! Signatures over the root of a folder's frames: in-toto statements in envelopes of DSSE, by keys of ssh-ed25519.

use crate::assets::AssetError;
use crate::cli::Failure;
use crate::error::Error;
use crate::language::{Message, msg};
use crate::output::NameFile;
use crate::output::store::atomic::write_whole;
use crate::output::store::hidden::read_text;
use crate::output::store::manifest::Manifest;
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD};
use ed25519_compact::{KeyPair, PublicKey, Seed, Signature};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

const STATEMENT: &str = "application/vnd.in-toto+json";
const KIND: &str = "ssh-ed25519";
// Maximum length of a key, and of a file of signatures, bytes.
const LONGEST_KEY: u64 = 1 << 16;
const LONGEST: u64 = 16 << 20;

// An envelope as DSSE defines it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    payload_type: String,
    payload: String,
    signatures: Vec<OneSignature>,
}

#[derive(Serialize, Deserialize)]
struct OneSignature {
    keyid: String,
    sig: String,
}

/// The file of signatures beside a manifest: an envelope a line.
pub fn file_of(folder: &Path) -> PathBuf {
    folder.join("manifest.intoto.jsonl")
}

// What is signed (the "pre-authentication encoding").
fn signed(payload: &[u8]) -> Vec<u8> {
    [format!("DSSEv1 {} {STATEMENT} {} ", STATEMENT.len(), payload.len()).as_bytes(), payload].concat()
}

fn statement(manifest: &Manifest, root: &str) -> Value {
    json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{ "name": manifest.pattern, "digest": { "sha256": root } }],
        "predicateType": "urn:polyfly:frames:1",
        "predicate": { "scene": manifest.hash, "pictures": manifest.pictures, "frames": manifest.hashes.len() },
    })
}

/// Adds a signature over the root to the folder's file.
pub fn sign(folder: &Path, manifest: &Manifest, root: &str, key: &Path) -> Result<(), Failure> {
    let pair = private_key(key)?;
    let payload = statement(manifest, root).to_string();
    let signature = pair.sk.sign(signed(payload.as_bytes()), None);
    let envelope = Envelope {
        payload_type: STATEMENT.into(),
        payload: BASE64_STANDARD.encode(&payload),
        signatures: vec![OneSignature { keyid: fingerprint(&pair.pk), sig: BASE64_STANDARD.encode(*signature) }],
    };
    let path = file_of(folder);
    let before = existing(&path)?;
    let line = serde_json::to_string(&envelope).map_err(std::io::Error::from).writing(&path)?;
    Ok(write_whole(&path, |file| writeln!(file, "{before}{line}"))?)
}

fn existing(path: &Path) -> Result<String, Error> {
    match read_text(path, LONGEST) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(String::new()),
        read => Ok(read.reading(path)?),
    }
}

/// Why the folder has no valid signature by this key over the root; None if it has one.
pub fn fault(folder: &Path, root: &str, key: &str) -> Result<Option<Message>, Failure> {
    let key = public_key(key)?;
    let own = fingerprint(&key);
    let text = existing(&file_of(folder))?;
    let mut faults = Vec::new();
    for envelope in text.lines().filter_map(|line| serde_json::from_str::<Envelope>(line).ok()) {
        let payload = BASE64_STANDARD.decode(&envelope.payload).unwrap_or_default();
        let is_valid = |one: &OneSignature| {
            let bytes = BASE64_STANDARD.decode(&one.sig).unwrap_or_default();
            Signature::from_slice(&bytes).is_ok_and(|signature| key.verify(signed(&payload), &signature).is_ok())
        };
        let of_key = envelope.signatures.iter().filter(|one| one.keyid == own);
        let [mut some, mut valid] = [false; 2];
        of_key.for_each(|one| (some, valid) = (true, valid || is_valid(one)));
        let statement: Value = serde_json::from_slice(&payload).unwrap_or_default();
        if valid && envelope.payload_type == STATEMENT && statement["subject"][0]["digest"]["sha256"] == root {
            return Ok(None);
        }
        faults.extend(some.then(|| match valid {
            true => msg!("the signature of {key} is over another root", key = own),
            false => msg!("the signature of {key} is invalid", key = own),
        }));
    }
    Ok(Some(faults.pop().unwrap_or_else(|| msg!("there is no signature of {key}", key = own))))
}

// As ssh-keygen -l prints it.
fn fingerprint(key: &PublicKey) -> String {
    let blob = [string(KIND.as_bytes()), string(&**key)].concat();
    format!("SHA256:{}", BASE64_STANDARD_NO_PAD.encode(Sha256::digest(blob)))
}

fn string(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes(), bytes].concat()
}

// Takes a string off the front (RFC 4251, 5).
fn take<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (string, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    *bytes = rest;
    Some(string)
}

// A line `ssh-ed25519 AAAA...`, or a file with one.
fn public_key(key: &str) -> Result<PublicKey, Failure> {
    let text = match key.starts_with(KIND) {
        true => key.to_owned(),
        false => read_text(Path::new(key), LONGEST_KEY).map_err(|e| Error::Read(key.to_owned(), e))?,
    };
    let parsed = || {
        let blob = BASE64_STANDARD.decode(text.trim().strip_prefix(KIND)?.split_whitespace().next()?).ok()?;
        let mut blob = &blob[..];
        (take(&mut blob)? == KIND.as_bytes()).then_some(())?;
        PublicKey::from_slice(take(&mut blob)?).ok()
    };
    let wrong =
        || msg!("it is no public key of ssh-ed25519: `ssh-keygen -t ed25519` makes one, in the file that ends in .pub");
    Ok(parsed().ok_or_else(|| AssetError::new(Path::new(key), wrong()))?)
}

// A private key in OpenSSH's format (PROTOCOL.key), without a passphrase.
fn private_key(path: &Path) -> Result<KeyPair, Failure> {
    let text = read_text(path, LONGEST_KEY).map_err(|e| Error::Read(path.display().to_string(), e))?;
    let parsed = || {
        let body: String = text.lines().filter(|line| !line.starts_with("-----")).collect();
        let bytes = BASE64_STANDARD.decode(body).ok()?;
        let mut rest = bytes.strip_prefix(b"openssh-key-v1\0")?;
        let (cipher, _kdf, _options) = (take(&mut rest)?, take(&mut rest)?, take(&mut rest)?);
        (cipher == b"none").then_some(())?;
        rest = rest.strip_prefix(&1_u32.to_be_bytes())?;
        let _public = take(&mut rest)?;
        let mut secret = take(&mut rest)?.get(8..)?;
        (take(&mut secret)? == KIND.as_bytes()).then_some(())?;
        let _public = take(&mut secret)?;
        Some(KeyPair::from_seed(Seed::from_slice(take(&mut secret)?.get(..Seed::BYTES)?).ok()?))
    };
    let wrong =
        || msg!("it is no private key of ssh-ed25519 without a passphrase: `ssh-keygen -t ed25519 -N ''` makes one");
    Ok(parsed().ok_or_else(|| AssetError::new(path, wrong()))?)
}
