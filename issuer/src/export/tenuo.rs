//! Tenuo: a chain of N mandates becomes N + 1 warrants in the issuer's custody, the last one held by the agent
//! (board rule 5.2, protocol C4 and C5).

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use pact_mandate::{
    Amount, Format, KeyId, PublicKey, SecretKey, Signer, UnixTime, ceilings::LimitName, json::Number,
    limits::MAX_LIFETIME_SECONDS,
};
use pact_verifier::limits::{MAX_CONSTRAINED_ARGUMENTS, MAX_STACK_BYTES, MAX_TENUO_NAME_BYTES, MAX_TOOLS};
use tenuo::{
    Authorizer, ConstraintSet, Exact, OneOf, Range, SigningKey, Warrant, Wildcard,
    wire::{WarrantStack, decode_stack, encode_stack},
};

use super::{Export, ExportError, Order, link::Link, read_back::read_back};
use crate::{
    chain::UnrevokedChain,
    limits::{MAX_CLOCK_DIFFERENCE_SECONDS, MAX_TENUO_MILLIONTHS},
    record::{CredentialId, CredentialRecord, Minted},
};

const RESERVED_TOOLS: &str = "tenuo:";
/// Tries to mint within one second of the clock; each takes well under a millisecond.
const TRIES: usize = 3;

/// Mints a warrant stack for the chain's last mandate, signed by `key`, and opens it again.
pub fn export(chain: &UnrevokedChain, order: &Order, key: &SecretKey) -> Result<Export, ExportError> {
    let links = Link::all(chain, order.now)?;
    let grants = grants(&links)?;
    let warrants = mint_in_time(chain, order, key, &links, &grants)?;
    let bytes = encode_stack(&WarrantStack::new(warrants.clone())).map_err(Box::new)?;
    if bytes.len() > MAX_STACK_BYTES {
        return Err(ExportError::TooLarge { bytes: bytes.len(), limit: MAX_STACK_BYTES });
    }
    let record = record(chain, order, key.key_id(), &links, &warrants);
    let text = STANDARD.encode(bytes);
    second_opinion(&text, &warrants, key.public_key())?;
    read_back(&text, &record, order, key)?;
    Ok(Export::new(record, text))
}

/// The capabilities of each link, or why Tenuo cannot carry them.
fn grants(links: &[Link]) -> Result<Vec<Vec<(String, ConstraintSet)>>, ExportError> {
    let root = links.first().map(|link| &link.limits);
    for (at, link) in links.iter().enumerate() {
        if let Some(name) = link
            .limits
            .iter()
            .map(|(name, _)| name)
            .find(|name| root.is_none_or(|root| root.get(name).is_none()))
        {
            return Err(ExportError::LimitAddedBelow { link: at, name: name.clone() });
        }
    }
    links.iter().enumerate().map(|(at, link)| capabilities(at, link)).collect()
}

/// One capability for each distinct action.
fn capabilities(at: usize, link: &Link) -> Result<Vec<(String, ConstraintSet)>, ExportError> {
    let tools = link.tools();
    check_count(at, "tools", tools.len(), MAX_TOOLS)?;
    // `project` and `task_id` stand beside the limits.
    check_count(at, "constraints", link.limits.len() + 2, MAX_CONSTRAINED_ARGUMENTS)?;
    let mut capabilities = Vec::new();
    for (action, projects) in tools {
        if action.as_str().starts_with(RESERVED_TOOLS) {
            return Err(ExportError::ReservedTool {
                link: at,
                format: Format::Tenuo,
                action: action.clone(),
            });
        }
        check_count(at, "bytes in the name of a tool", action.as_str().len(), MAX_TENUO_NAME_BYTES)?;
        let mut constraints = ConstraintSet::new();
        let names: Vec<&str> = projects.iter().map(|project| project.as_str()).collect();
        match names.as_slice() {
            [only] => constraints.insert("project", Exact::new(*only)),
            several => constraints.insert("project", OneOf::new(several.iter().copied())),
        }
        constraints.insert("task_id", Wildcard::new());
        for (name, amount) in link.limits.iter() {
            let most = exact_double(at, name, amount)?;
            constraints.insert(name.as_str(), Range::max(most).map_err(Box::new)?);
        }
        capabilities.push((action.to_string(), constraints));
    }
    Ok(capabilities)
}

/// C4: below 2^53 millionths, and the shortest decimal of its nearest double.
fn exact_double(link: usize, name: &LimitName, amount: Amount) -> Result<f64, ExportError> {
    let double = (amount.millionths() < MAX_TENUO_MILLIONTHS)
        .then(|| Number::from_text(&amount.to_string()))
        .flatten()
        .and_then(|number| number.as_exact_f64());
    double.ok_or_else(|| ExportError::InexactAmount {
        link,
        format: Format::Tenuo,
        name: name.clone(),
        amount,
    })
}

fn check_count(link: usize, what: &'static str, count: usize, limit: usize) -> Result<(), ExportError> {
    if count > limit {
        return Err(ExportError::TooMany { link, format: Format::Tenuo, what, count, limit });
    }
    Ok(())
}

/// The crate reads the clock itself. When a second passed between the request and the minting, a warrant would end
/// after its mandate: then it is minted again, for the second that passed less.
fn mint_in_time(
    chain: &UnrevokedChain,
    order: &Order,
    key: &SecretKey,
    links: &[Link],
    grants: &[Vec<(String, ConstraintSet)>],
) -> Result<Vec<Warrant>, ExportError> {
    let signing = SigningKey::from_bytes(&key.seed());
    let mut now = order.now;
    for _ in 0..TRIES {
        let warrants = mint(chain, order, &signing, links, grants, now)?;
        let minted = warrants.last().map_or(order.now, issued_at);
        let late = minted.since(order.now).max(order.now.since(minted));
        if late > MAX_CLOCK_DIFFERENCE_SECONDS {
            return Err(ExportError::ClockDisagrees { asked: order.now, minted });
        }
        if warrants.iter().zip(ends(order, links)).all(|(warrant, end)| expires_at(warrant) <= end) {
            return Ok(warrants);
        }
        now = minted;
    }
    Err(ExportError::ClockDisagrees { asked: order.now, minted: now })
}

/// The end of each warrant: that of its mandate; the leaf's also at the order's own.
fn ends(order: &Order, links: &[Link]) -> impl Iterator<Item = UnixTime> {
    let leaf = links.last().map(|link| link.expires_at.min(order.latest_end()));
    links.iter().map(|link| link.expires_at).chain(leaf)
}

fn mint(
    chain: &UnrevokedChain,
    order: &Order,
    key: &SigningKey,
    links: &[Link],
    grants: &[Vec<(String, ConstraintSet)>],
    now: UnixTime,
) -> Result<Vec<Warrant>, ExportError> {
    let mut warrants: Vec<Warrant> = Vec::with_capacity(links.len() + 1);
    let leaf = grants.last();
    for (end, capabilities) in ends(order, links).zip(grants.iter().chain(leaf)) {
        let ttl = Duration::from_secs(end.since(now).clamp(1, MAX_LIFETIME_SECONDS));
        let warrant = match warrants.last() {
            None => root(key, ttl, capabilities)?,
            Some(parent) if warrants.len() < links.len() => child(parent, key, ttl, capabilities, None)?,
            Some(parent) => {
                let holder = tenuo::PublicKey::from_bytes(order.holder.as_bytes()).map_err(Box::new)?;
                // C5: as many hand-offs below as the mandate has left; none makes it terminal.
                let left = u32::from(chain.chain().leaf().delegations_left());
                child(parent, key, ttl, capabilities, Some((holder, left)))?
            }
        };
        warrants.push(warrant);
    }
    Ok(warrants)
}

fn root(
    key: &SigningKey,
    ttl: Duration,
    capabilities: &[(String, ConstraintSet)],
) -> Result<Warrant, ExportError> {
    let builder = Warrant::builder().holder(key.public_key()).ttl(ttl);
    let builder =
        capabilities.iter().fold(builder, |all, (tool, constraints)| all.tool(tool, constraints.clone()));
    Ok(builder.build(key).map_err(Box::new)?)
}

/// A warrant below `parent`: in our own custody, or handed to an agent that may hand it on so many times.
fn child(
    parent: &Warrant,
    key: &SigningKey,
    ttl: Duration,
    capabilities: &[(String, ConstraintSet)],
    agent: Option<(tenuo::PublicKey, u32)>,
) -> Result<Warrant, ExportError> {
    let builder = parent.attenuate().ttl_capped_to_parent(ttl);
    let builder =
        capabilities.iter().fold(builder, |all, (tool, constraints)| all.tool(tool, constraints.clone()));
    let builder = match agent {
        None => builder.holder(key.public_key()),
        Some((holder, left)) => builder.holder(holder).max_depth(parent.depth() + 1 + left),
    };
    Ok(builder.build(key).map_err(Box::new)?)
}

/// Warrants 1 to N stand for the mandates, root first; the extra leaf stands for the last mandate once more.
fn record(
    chain: &UnrevokedChain,
    order: &Order,
    key: &KeyId,
    links: &[Link],
    warrants: &[Warrant],
) -> CredentialRecord {
    let leaf = chain.chain().leaf().id();
    let mandates = links.iter().map(|link| link.mandate).chain([leaf]);
    let minted = mandates.zip(warrants).map(|(mandate, warrant)| Minted {
        mandate,
        id: CredentialId::Warrant(*warrant.id().as_bytes()),
        expires_at: expires_at(warrant),
    });
    CredentialRecord {
        format: Format::Tenuo,
        mandate: leaf,
        holder: order.holder,
        key: key.clone(),
        issued_at: order.now,
        expires_at: warrants.last().map_or(order.now, expires_at),
        minted: minted.collect(),
    }
}

fn issued_at(warrant: &Warrant) -> UnixTime {
    from_unix(warrant.issued_at().timestamp())
}

fn expires_at(warrant: &Warrant) -> UnixTime {
    from_unix(warrant.expires_at().timestamp())
}

fn from_unix(seconds: i64) -> UnixTime {
    u64::try_from(seconds)
        .ok()
        .and_then(|seconds| UnixTime::try_from(seconds).ok())
        .unwrap_or(UnixTime::EPOCH)
}

/// Opens the text with the crate that minted it: every signature and link up to our key, and the same warrants.
fn second_opinion(text: &str, minted: &[Warrant], key: &PublicKey) -> Result<(), ExportError> {
    let differs = |what| ExportError::NotReadBack { format: Format::Tenuo, what };
    let bytes = STANDARD.decode(text).map_err(|_| differs("base64"))?;
    let stack = decode_stack(&bytes).map_err(Box::new)?;
    let root = tenuo::PublicKey::from_bytes(key.as_bytes()).map_err(Box::new)?;
    let authorizer = Authorizer::builder().trusted_root(root).build().map_err(Box::new)?;
    authorizer.verify_chain(&stack.0).map_err(Box::new)?;
    let same = stack.0.len() == minted.len()
        && stack.0.iter().zip(minted).all(|(read, made)| read.payload_bytes() == made.payload_bytes());
    if same { Ok(()) } else { Err(differs("warrants")) }
}
