//! Networks of IP addresses.

use std::net::IpAddr;

/// An address and how many of its leading bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Network {
    address: IpAddr,
    prefix: u32,
}

impl Network {
    /// `10.0.0.0/8` or `2001:db8::/32`; nothing shorter, no masks.
    pub(super) fn parse(text: &str) -> Option<Network> {
        let (address, digits) = text.split_once('/')?;
        let address: IpAddr = address.parse().ok()?;
        let prefix: u32 = digits.parse().ok()?;
        let network = Network { address, prefix };
        (prefix <= network.width() && prefix.to_string() == digits).then_some(network)
    }

    pub(super) fn admits(&self, text: &str) -> bool {
        text.parse().is_ok_and(|address| self.contains(address))
    }

    pub(super) fn narrows_to(&self, child: &Network) -> bool {
        child.prefix >= self.prefix && self.contains(child.address)
    }

    fn contains(&self, address: IpAddr) -> bool {
        let differing = match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => u128::from(own.to_bits() ^ other.to_bits()),
            (IpAddr::V6(own), IpAddr::V6(other)) => own.to_bits() ^ other.to_bits(),
            _ => return false,
        };
        differing.checked_shr(self.width() - self.prefix).unwrap_or(0) == 0
    }

    fn width(&self) -> u32 {
        match self.address {
            IpAddr::V4(_) => 32,
            IpAddr::V6(_) => 128,
        }
    }
}

/// Whether the text is an address at all, without which a network says nothing about it.
pub(super) fn is_address(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_holds_its_addresses_and_no_others() {
        let network = |text| Network::parse(text).unwrap();
        assert!(network("10.0.0.0/8").admits("10.255.0.1"));
        assert!(!network("10.0.0.0/8").admits("11.0.0.1"));
        assert!(network("0.0.0.0/0").admits("1.2.3.4") && !network("0.0.0.0/0").admits("::1"));
        assert!(network("::/0").admits("::1"));
        assert!(network("10.1.0.0/16").narrows_to(&network("10.1.2.0/24")));
        assert!(!network("10.1.0.0/16").narrows_to(&network("10.0.0.0/8")));
        for bad in ["10.0.0.0", "10.0.0.0/33", "10.0.0.0/08", "10.0.0/8", "a/8", "10.0.0.0/+8", "::/129"] {
            assert_eq!(Network::parse(bad), None, "{bad}");
        }
    }
}
