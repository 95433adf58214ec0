//! Requests that are made and signed before the clock starts.

use std::{fmt::Write, thread};

use pact_holder::{Holder, call::tool_call, sign_tenuo};
use pact_mandate::Json;
use pact_verifier::proof::FreshProof;

use crate::world::{Failure, World, action, wall};

/// Bytes of a message without what proves it.
const MESSAGE_BYTES: usize = 1024;
/// Who calls: as many as there are connections, so that nobody's share of the replay store is used up.
const HOLDERS: usize = 64;

/// One request, and what must come of it.
#[derive(Clone)]
pub struct Call {
    /// From the request line to the last byte of the body.
    pub bytes: Vec<u8>,
    /// The status of the answer. At 200 the tool server's result must be in it.
    pub status: u16,
}

/// Those who call: each with one credential, or with a new one for every call.
pub struct Callers<'a> {
    world: &'a World,
    known: Vec<(Holder, String)>,
    made: usize,
}

/// Which credential a call carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// One that the holder used before.
    Known,
    /// One that nobody used before.
    New,
}

impl<'a> Callers<'a> {
    /// Gives each of them a credential: four warrants.
    pub fn new(world: &'a World) -> Result<Callers<'a>, Failure> {
        let known = (0..HOLDERS).map(|number| {
            let mut seed = [0x40; 32];
            seed.iter_mut().zip(number.to_be_bytes()).for_each(|(to, from)| *to ^= from);
            let holder = Holder::from_seed(&seed)?;
            let stack = world.credential(&holder, wall()?)?;
            Ok::<_, Failure>((holder, stack))
        });
        Ok(Callers { world, known: known.collect::<Result<_, _>>()?, made: 0 })
    }

    /// The next `count` calls of `tool`, signed now, in this order.
    pub fn sign(&mut self, count: usize, credentials: Credentials, tool: &str) -> Result<Vec<Call>, Failure> {
        let (first, middle) = (self.made, self.made + count / 2);
        self.made += count;
        let this = &*self;
        let part = |range: std::ops::Range<usize>| -> Result<Vec<Call>, String> {
            let calls = range.map(|number| this.call(number, credentials, tool));
            calls.collect::<Result<_, _>>().map_err(|failure| failure.to_string())
        };
        thread::scope(|scope| {
            let half = scope.spawn(|| part(first..middle));
            let rest = part(middle..first + count)?;
            let mut calls = half.join().map_err(|_| "a thread that signs died")??;
            calls.extend(rest);
            Ok(calls)
        })
    }

    fn call(&self, number: usize, credentials: Credentials, tool: &str) -> Result<Call, Failure> {
        let (holder, known) =
            self.known.iter().cycle().nth(number % HOLDERS).ok_or("there is nobody to call")?;
        let new = match credentials {
            Credentials::Known => None,
            Credentials::New => Some(self.world.credential(holder, wall()?)?),
        };
        let stack = new.as_ref().unwrap_or(known);
        let arguments = arguments(number, tool);
        let asked = tool_call(tool, Json::parse(arguments.as_bytes())?)?;
        let mut id = [0; 16];
        id.iter_mut().zip(number.to_be_bytes()).for_each(|(to, from)| *to = from);
        let fresh = FreshProof { id, issued_at: wall()? };
        let proof = sign_tenuo(holder, stack, &action()?, &asked, self.world.audience(), &fresh)?;
        Ok(Call::served(&message(number, tool, &arguments, &serde_json::to_string(&proof)?)))
    }
}

impl Call {
    /// A call that goes through.
    pub fn served(body: &str) -> Call {
        Call { bytes: post(body), status: 200 }
    }

    /// A call that must not.
    pub fn refused(body: &str, status: u16) -> Call {
        Call { bytes: post(body), status }
    }

    /// The message that it carries.
    pub fn body(&self) -> Result<&str, Failure> {
        let text = std::str::from_utf8(&self.bytes)?;
        Ok(text.split_once("\r\n\r\n").ok_or("no head")?.1)
    }
}

/// A whole message.
pub fn message(number: usize, tool: &str, arguments: &str, meta: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{meta}}}}}"#
    )
}

/// So long that the message without its `_meta` has a KiB.
pub fn arguments(number: usize, tool: &str) -> String {
    let mut text = r#"{"project":"web","task_id":"11111111-1111-4111-8111-111111111111","cost_usd":1.25,"runs":3,"text":""#.to_owned();
    let rest = MESSAGE_BYTES.saturating_sub(message(number, tool, &text, "{}").len() + 2);
    // Writing into a string cannot fail.
    let _ = write!(text, "{number:0>rest$}\"}}");
    text
}

fn post(body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body.as_bytes()].concat()
}
