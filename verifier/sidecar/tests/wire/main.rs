//! The sidecar over real sockets, in front of a tool server that records what reaches it.

#[cfg(test)]
mod client;
#[cfg(test)]
mod issuer;
#[cfg(test)]
mod stand;
#[cfg(test)]
mod upstream;

#[cfg(test)]
mod calls;
#[cfg(test)]
mod command;
#[cfg(test)]
mod doors;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod framing;
#[cfg(test)]
mod killed;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod methods;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod params;
#[cfg(test)]
mod receipts;
#[cfg(test)]
mod reload;
#[cfg(test)]
mod revisions;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod shared;
#[cfg(test)]
mod smuggling;
#[cfg(test)]
mod stdio;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod target;
#[cfg(test)]
mod token;
#[cfg(test)]
mod tools_list;
