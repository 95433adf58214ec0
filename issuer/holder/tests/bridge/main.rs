//! `pact-holder bridge` as a child process, between a client that writes lines and a server that records what reaches it.

#[cfg(test)]
mod calls;
#[cfg(test)]
mod child;
#[cfg(test)]
mod config;
#[cfg(test)]
mod credentials;
#[cfg(test)]
mod lines;
#[cfg(test)]
mod local;
#[cfg(test)]
mod readme;
#[cfg(test)]
mod server;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod streams;
