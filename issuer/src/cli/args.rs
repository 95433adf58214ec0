//! What each command takes.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use pact_issuer::{CredentialId, keyring::Role};
use pact_mandate::{
    AgentId, Amount, Format, HumanId, IssuerId, MandateId, PublicKey, ScopeItem, ceilings::LimitName,
};

use crate::cli::grant::{kept_seconds, limit, seconds};

#[derive(Args)]
pub(crate) struct InitArgs {
    /// The issuer's name, as verifiers will configure it.
    #[arg(long, value_name = "NAME")]
    pub(crate) issuer: IssuerId,
    /// For how long others may cache a published key set; a next key waits this long before it signs (such as 5m).
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = seconds)]
    pub(crate) key_cache: u64,
    /// Take the mandate keys from the environment: `PACT_BOARD_KEYS`, else the one derived from `PACT_SIGNING_KEY`.
    #[arg(long)]
    pub(crate) board_keys: bool,
}

#[derive(Args)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    pub(crate) command: Option<KeysCommand>,
}

#[derive(Subcommand)]
pub(crate) enum KeysCommand {
    /// First time: make and publish the next key. Second time, a cache lifetime later: let it take over.
    Rotate {
        /// Whose key.
        #[arg(long, value_enum)]
        role: RoleName,
    },
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum RoleName {
    /// Signs mandates and credentials.
    Mandate,
    /// Signs the revocation list.
    List,
}

#[derive(Args)]
pub(crate) struct Grant {
    /// The agent that receives it.
    #[arg(long, value_name = "AGENT")]
    pub(crate) holder: AgentId,
    /// What for: action@project:name, as often as needed.
    #[arg(long, value_name = "ITEM", required = true)]
    pub(crate) scope: Vec<ScopeItem>,
    /// The most that one call may ask for: name=amount, such as `cost_usd=2.5`, as often as needed.
    #[arg(long = "limit", value_name = "NAME=AMOUNT", value_parser = limit)]
    pub(crate) limits: Vec<(LimitName, Amount)>,
    /// How many times it may be handed on below.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) delegations: u8,
}

#[derive(Args)]
pub(crate) struct MintArgs {
    /// The person who grants.
    #[arg(long, value_name = "PERSON")]
    pub(crate) human: HumanId,
    #[command(flatten)]
    pub(crate) grant: Grant,
    /// For how long: 90s, 10m, 24h, 30d; at most 90 days.
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = seconds)]
    pub(crate) lifetime: u64,
}

#[derive(Args)]
pub(crate) struct DelegateArgs {
    /// The mandate that is handed on.
    #[arg(long, value_name = "MANDATE")]
    pub(crate) parent: MandateId,
    #[command(flatten)]
    pub(crate) grant: Grant,
    /// For how long; as long as the parent when not given.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) lifetime: Option<u64>,
}

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// The mandate.
    pub(crate) mandate: MandateId,
    /// The credential's form.
    #[arg(long, value_enum)]
    pub(crate) format: FormatName,
    /// The agent's public key, 43 characters of base64url; it must prove possession on every call.
    // One key in 64 begins with a hyphen.
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) holder_key: PublicKey,
    /// The most that the credential may live.
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = seconds)]
    pub(crate) lifetime: u64,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum FormatName {
    /// A Tenuo warrant stack.
    Tenuo,
    /// A Biscuit token.
    Biscuit,
}

#[derive(Args)]
pub(crate) struct RevokeArgs {
    /// A mandate id, a warrant id (`tnu_wrt_`…), or a Biscuit block id (128 hex digits).
    #[arg(required_unless_present = "key", conflicts_with = "key")]
    pub(crate) id: Option<AnyId>,
    /// With a warrant or block id: the holder's other credentials of the same mandate too, which were made anew.
    #[arg(long, conflicts_with = "key")]
    pub(crate) and_siblings: bool,
    /// A key instead: its id in this folder, or any public key. Every chain with it as root, issuer or holder dies.
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) key: Option<String>,
}

#[derive(Args)]
pub(crate) struct TraceArgs {
    /// A mandate id, a warrant id (`tnu_wrt_`…), or a Biscuit block id (128 hex digits).
    pub(crate) id: AnyId,
}

#[derive(Args)]
pub(crate) struct CompactArgs {
    /// What ended less long ago stays, and can still be traced (at least 10m, for so long lists must name it).
    #[arg(long, value_name = "TIME", default_value = "90d", value_parser = kept_seconds)]
    pub(crate) keep: u64,
}

#[derive(Args)]
pub(crate) struct PublishArgs {
    /// Where to; everything stands below its folder `.well-known`.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Go on, and sign anew this often (at most 10s, or lists go stale).
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) every: Option<u64>,
}

#[derive(Args)]
pub(crate) struct ServeArgs {
    /// Where to; port 0 takes a free one and prints it.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8780")]
    pub(crate) listen: SocketAddr,
    /// Where /livez, /readyz and /metrics answer: for those who look after this server, not for verifiers.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8781")]
    pub(crate) admin: SocketAddr,
    /// Answer `POST /reissue`: a holder that proves its key gets the credential of a live mandate anew, as it was exported to it.
    #[arg(long)]
    pub(crate) reissue: bool,
}

/// An id of anything that was issued here.
#[derive(Clone, Copy)]
pub(crate) enum AnyId {
    Mandate(MandateId),
    Credential(CredentialId),
}

impl std::str::FromStr for AnyId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<AnyId, &'static str> {
        let mandate = text.parse().map(AnyId::Mandate);
        mandate.or_else(|_| text.parse().map(AnyId::Credential)).map_err(
            |_| "an id is a mandate's UUID, tnu_wrt_ and 32 hex digits, or 128 hex digits, all in lower case",
        )
    }
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Role {
        match name {
            RoleName::Mandate => Role::Mandate,
            RoleName::List => Role::List,
        }
    }
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Format {
        match name {
            FormatName::Tenuo => Format::Tenuo,
            FormatName::Biscuit => Format::Biscuit,
        }
    }
}
