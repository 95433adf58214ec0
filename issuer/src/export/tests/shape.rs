//! The shapes of board rules 5.2 and 5.3, statement by statement.

use super::*;

#[test]
fn a_chain_of_n_mandates_is_n_plus_1_warrants_of_the_shape_of_board_rule_5_2() {
    let chain = three(1);
    let credential = release(warrants::export(&chain, &order(), &issuer()).unwrap());
    let stack = stack(&credential).0;
    assert_eq!(stack.len(), 4);
    let board = issuer().public_key().as_bytes().to_owned();
    for (depth, warrant) in stack.iter().enumerate() {
        assert_eq!(warrant.depth(), u32::try_from(depth).unwrap());
        assert_eq!(warrant.issuer().to_bytes(), board);
        assert!(warrant.extensions().is_empty());
        if depth < 3 {
            assert_eq!(warrant.authorized_holder().to_bytes(), board);
            assert_eq!(warrant.max_depth(), Some(64));
        }
    }
    let leaf = stack.last().unwrap();
    assert_eq!(leaf.authorized_holder().to_bytes(), *agent().public_key().as_bytes());
    // The root's first tool: two projects, sorted; the leaf: one project and the limits of every ancestor.
    let root = stack[0].capabilities().unwrap();
    assert_eq!(root.keys().collect::<Vec<_>>(), ["task.read", "task.work"]);
    let json = serde_json::to_value(leaf.capabilities().unwrap()).unwrap();
    let expected = serde_json::json!({"task.read": {"constraints": {
        "cost_usd": [3, {"min": null, "max": 2.5, "min_inclusive": true, "max_inclusive": true}],
        "project": [1, {"value": "web"}],
        "runs": [3, {"min": null, "max": 7.0, "min_inclusive": true, "max_inclusive": true}],
        "task_id": [16, null],
    }}});
    assert_eq!(json, expected);
    // Warrants 1 to N stand for the mandates; the leaf stands for the last one once more.
    let record = credential.record();
    let mandates: Vec<_> = record.minted.iter().map(|minted| minted.mandate).collect();
    assert_eq!(mandates, [id(1), id(2), id(3), id(3)]);
    for (minted, warrant) in record.minted.iter().zip(&stack) {
        assert_eq!(minted.id, CredentialId::Warrant(*warrant.id().as_bytes()));
        assert_eq!(minted.id.to_string(), warrant.id().to_prefixed_string());
    }
}

#[test]
fn c5_a_leaf_may_be_handed_on_as_often_as_its_mandate() {
    for left in [0, 1] {
        let credential = release(warrants::export(&three(left), &order(), &issuer()).unwrap());
        let leaf = stack(&credential).0.pop().unwrap();
        assert_eq!(leaf.max_depth(), Some(leaf.depth() + u32::from(left)));
        assert_eq!(leaf.is_terminal(), left == 0);
    }
}

#[test]
fn a_chain_of_n_mandates_is_one_token_of_n_blocks_of_the_shape_of_board_rule_5_3() {
    let order = order();
    let chain = three(1);
    let credential = release(biscuit::export(&chain, &order, &issuer()).unwrap());
    let key = biscuit_auth::PublicKey::from_bytes(
        issuer().public_key().as_bytes(),
        biscuit_auth::Algorithm::Ed25519,
    );
    let token = Biscuit::from_base64(credential.text(), key.unwrap()).unwrap();
    let end = |at: usize| {
        let end = chain.chain().mandates().nth(at).unwrap().validity().expires_at;
        if at == 2 { end.min(order.now.plus(600)) } else { end }.rfc3339()
    };
    let scope = r#"check if tool("task.read"), project("web") or tool("task.work"), project("web") or tool("task.read"), project("api");"#;
    let authority = format!(
        "mandate(\"{}\");\nright(\"web\", \"task.read\");\nright(\"web\", \"task.work\");\nright(\"api\", \"task.read\");\n{scope}\n\
         check if arg(\"cost_usd\", $v), $v <= 10000000;\ncheck if arg(\"runs\", $v), $v <= 50000000;\n\
         check if time($t), $t <= {};\n",
        id(1),
        end(0)
    );
    let middle = format!(
        "mandate(\"{}\");\n{scope}\ncheck if arg(\"cost_usd\", $v), $v <= 2500000;\n\
         check if arg(\"runs\", $v), $v <= 50000000;\ncheck if time($t), $t <= {};\n",
        id(2),
        end(1)
    );
    let last = format!(
        "holder(\"{}\");\nmandate(\"{}\");\ncheck if tool(\"task.read\"), project(\"web\");\n\
         check if arg(\"cost_usd\", $v), $v <= 2500000;\ncheck if arg(\"runs\", $v), $v <= 7000000;\n\
         check if time($t), $t <= {};\n\
         reject if arg($k, $v), !{{\"cost_usd\", \"runs\", \"task_id\"}}.contains($k);\n",
        agent().public_key(),
        id(3),
        end(2)
    );
    for (at, expected) in [authority, middle, last].into_iter().enumerate() {
        assert_eq!(token.print_block_source(at).unwrap(), expected);
    }
    // The lowest version that carries each block: `reject if` needs the latest, nothing else does.
    let versions: Vec<u32> = (0..3).map(|at| token.block_version(at).unwrap()).collect();
    assert_eq!(versions, [3, 3, 6]);
    assert_eq!(token.root_key_id(), Some(biscuit_key_id(issuer().key_id(), issuer().public_key())));
    let record = credential.record();
    let ids: Vec<Vec<u8>> = token.revocation_identifiers();
    assert_eq!(ids.len(), 3);
    for (minted, id) in record.minted.iter().zip(ids) {
        assert_eq!(minted.id, CredentialId::Block(id.try_into().unwrap()));
    }
    let text = credential.text();
    assert_eq!(text.len() % 4, 0, "padded");
    assert!(!text.contains(['+', '/']), "URL-safe");
}

#[test]
fn c5_a_biscuit_that_may_not_be_handed_on_is_sealed() {
    for left in [0, 1] {
        let credential = release(biscuit::export(&three(left), &order(), &issuer()).unwrap());
        let key = biscuit_auth::PublicKey::from_bytes(
            issuer().public_key().as_bytes(),
            biscuit_auth::Algorithm::Ed25519,
        );
        let token = Biscuit::from_base64(credential.text(), key.unwrap()).unwrap();
        assert_eq!(token.append(biscuit_auth::BlockBuilder::new()).is_err(), left == 0);
    }
}
