//! Biscuit: a chain of N mandates becomes one token of N blocks (board rule 5.3, protocol C3 to C5).

use biscuit_auth::{
    Algorithm, Biscuit, BlockBuilder, KeyPair, PrivateKey,
    builder::{Binary, Check, CheckKind, Expression, Op, Rule, Term, Unary, fact, int, pred, string, var},
    error::Token,
};
use pact_mandate::{Format, KeyId, PublicKey, SecretKey, Signer, UnixTime};
use pact_verifier::{
    RootKey,
    limits::{MAX_CHECKS, MAX_FACTS, MAX_TOKEN_BYTES},
};

use super::{Export, ExportError, Order, link::Link, read_back::read_back};
use crate::{
    chain::UnrevokedChain,
    record::{CredentialId, CredentialRecord, Minted},
};

/// Mints a token for the chain's last mandate, signed by `key`, and opens it again.
pub fn export(chain: &UnrevokedChain, order: &Order, key: &SecretKey) -> Result<Export, ExportError> {
    let links = Link::all(chain, order.now)?;
    let ends = ends(order, &links);
    let blocks = blocks(&links, &ends, order)?;
    let terminal = chain.chain().leaf().delegations_left() == 0;
    let token = mint(&blocks, key, terminal)?;
    let bytes = token.to_vec().map_err(Box::new)?;
    if bytes.len() > MAX_TOKEN_BYTES {
        return Err(ExportError::TooLarge { bytes: bytes.len(), limit: MAX_TOKEN_BYTES });
    }
    let text = token.to_base64().map_err(Box::new)?;
    second_opinion(&text, &blocks, key)?;
    let record = record(chain, order, key.key_id(), &links, &ends, &token)?;
    read_back(&text, &record, order, key)?;
    Ok(Export::new(record, text))
}

/// The end of each block: that of its mandate; the last one's also at the order's own.
fn ends(order: &Order, links: &[Link]) -> Vec<UnixTime> {
    let last = links.len().saturating_sub(1);
    let end = |(at, link): (usize, &Link)| {
        if at == last { link.expires_at.min(order.latest_end()) } else { link.expires_at }
    };
    links.iter().enumerate().map(end).collect()
}

/// The statements of every block, in the order of board rule 5.3.
fn blocks(links: &[Link], ends: &[UnixTime], order: &Order) -> Result<Vec<BlockBuilder>, ExportError> {
    let last = links.len().saturating_sub(1);
    let mut blocks = Vec::with_capacity(links.len());
    for (at, (link, end)) in links.iter().zip(ends).enumerate() {
        let mut block = BlockBuilder::new();
        if at == last {
            block = add_fact(block, "holder", &[string(&order.holder.to_string())])?;
        }
        block = add_fact(block, "mandate", &[string(&link.mandate.to_string())])?;
        if at == 0 {
            for (action, project) in &link.pairs {
                block = add_fact(block, "right", &[string(project.as_str()), string(action.as_str())])?;
            }
        }
        let checks = [scope_check(link), expiry_check(*end)];
        let [scope, expiry] = checks;
        block = add_check(block, scope)?;
        for check in limit_checks(at, link)? {
            block = add_check(block, check)?;
        }
        block = add_check(block, expiry)?;
        if at == last {
            block = add_check(block, unknown_argument_check(link))?;
        }
        check_count(at, "facts", block.facts.len(), MAX_FACTS)?;
        check_count(at, "checks", block.checks.len(), MAX_CHECKS)?;
        blocks.push(block);
    }
    Ok(blocks)
}

fn check_count(link: usize, what: &'static str, count: usize, limit: usize) -> Result<(), ExportError> {
    if count > limit {
        return Err(ExportError::TooMany { link, format: Format::Biscuit, what, count, limit });
    }
    Ok(())
}

fn add_fact(block: BlockBuilder, name: &str, terms: &[Term]) -> Result<BlockBuilder, ExportError> {
    Ok(block.fact(fact(name, terms)).map_err(Box::new)?)
}

fn add_check(block: BlockBuilder, check: Check) -> Result<BlockBuilder, ExportError> {
    Ok(block.check(check).map_err(Box::new)?)
}

/// `check if tool("a0"), project("p0") or tool("a1"), project("p1") …`
fn scope_check(link: &Link) -> Check {
    let queries = link.pairs.iter().map(|(action, project)| {
        let body =
            vec![pred("tool", &[string(action.as_str())]), pred("project", &[string(project.as_str())])];
        query(body, Vec::new())
    });
    Check { queries: queries.collect(), kind: CheckKind::One }
}

/// `check if arg("k", $v), $v <= max`, for each limit by name. C4: amounts are millionths in an i64, so all are exact.
fn limit_checks(at: usize, link: &Link) -> Result<Vec<Check>, ExportError> {
    let check = |(name, amount): (&pact_mandate::ceilings::LimitName, pact_mandate::Amount)| {
        let most = i64::try_from(amount.millionths()).map_err(|_| ExportError::InexactAmount {
            link: at,
            format: Format::Biscuit,
            name: name.clone(),
            amount,
        })?;
        let body = vec![pred("arg", &[string(name.as_str()), var("v")])];
        Ok(one(query(body, vec![at_most("v", int(most))])))
    };
    link.limits.iter().map(check).collect()
}

/// `check if time($t), $t <= end`
fn expiry_check(end: UnixTime) -> Check {
    one(query(vec![pred("time", &[var("t")])], vec![at_most("t", Term::Date(end.seconds()))]))
}

/// `reject if arg($k, $v), !{names}.contains($k)`
fn unknown_argument_check(link: &Link) -> Check {
    let names = link.limits.iter().map(|(name, _)| string(name.as_str())).chain([string("task_id")]);
    let known = Term::Set(names.collect());
    let body = vec![pred("arg", &[var("k"), var("v")])];
    let ops =
        vec![Op::Value(known), Op::Value(var("k")), Op::Binary(Binary::Contains), Op::Unary(Unary::Negate)];
    Check { queries: vec![query(body, vec![Expression { ops }])], kind: CheckKind::Reject }
}

fn one(query: Rule) -> Check {
    Check { queries: vec![query], kind: CheckKind::One }
}

fn query(body: Vec<biscuit_auth::builder::Predicate>, expressions: Vec<Expression>) -> Rule {
    let nothing: &[Term] = &[];
    Rule::new(pred("query", nothing), body, expressions, Vec::new())
}

fn at_most(variable: &str, most: Term) -> Expression {
    Expression { ops: vec![Op::Value(var(variable)), Op::Value(most), Op::Binary(Binary::LessOrEqual)] }
}

fn mint(blocks: &[BlockBuilder], key: &SecretKey, terminal: bool) -> Result<Biscuit, ExportError> {
    let mut blocks = blocks.iter().cloned();
    let authority = blocks.next().unwrap_or_default();
    let private = PrivateKey::from_bytes(key.seed().as_slice(), Algorithm::Ed25519)
        .map_err(|_| ExportError::UnusableKey(Format::Biscuit))?;
    let root = KeyPair::from(&private);
    let builder =
        Biscuit::builder().merge(authority).root_key_id(root_key_id(key.key_id(), key.public_key()));
    let token = builder.build(&root).map_err(Box::new)?;
    let token = blocks.try_fold(token, |token, block| token.append(block)).map_err(Box::new)?;
    // C5: nobody below may append to the last hand-off.
    if terminal { Ok(token.seal().map_err(Box::new)?) } else { Ok(token) }
}

/// The number by which a Biscuit names its root.
pub(crate) fn root_key_id(id: &KeyId, key: &PublicKey) -> u32 {
    RootKey::Ed25519 { id: id.clone(), key: *key }.biscuit_id()
}

fn record(
    chain: &UnrevokedChain,
    order: &Order,
    key: &KeyId,
    links: &[Link],
    ends: &[UnixTime],
    token: &Biscuit,
) -> Result<CredentialRecord, ExportError> {
    let mut minted = Vec::with_capacity(links.len());
    for ((link, end), id) in links.iter().zip(ends).zip(token.revocation_identifiers()) {
        let id = id.try_into().map_err(|_| differs("revocation id"))?;
        minted.push(Minted { mandate: link.mandate, id: CredentialId::Block(id), expires_at: *end });
    }
    Ok(CredentialRecord {
        format: Format::Biscuit,
        mandate: chain.chain().leaf().id(),
        holder: order.holder,
        key: key.clone(),
        issued_at: order.now,
        expires_at: ends.iter().copied().min().unwrap_or(order.now),
        minted,
    })
}

const fn differs(what: &'static str) -> ExportError {
    ExportError::NotReadBack { format: Format::Biscuit, what }
}

/// Opens the text with the crate that minted it, under our public key alone: the same statements in every block.
fn second_opinion(text: &str, blocks: &[BlockBuilder], key: &SecretKey) -> Result<(), ExportError> {
    let public = key.public_key();
    let id = root_key_id(key.key_id(), public);
    let root = biscuit_auth::PublicKey::from_bytes(public.as_bytes(), Algorithm::Ed25519)
        .map_err(|fault| Box::new(Token::Format(fault)))?;
    let token = Biscuit::from_base64(text, root).map_err(Box::new)?;
    if token.root_key_id() != Some(id) || token.block_count() != blocks.len() {
        return Err(differs("root key id or number of blocks"));
    }
    for (at, block) in blocks.iter().enumerate() {
        if token.print_block_source(at).map_err(Box::new)? != block.to_string() {
            return Err(differs("statements"));
        }
    }
    Ok(())
}
