//! Users, what they may do, and personal access tokens.

use std::collections::BTreeMap;

use iggy::prelude::*;

use crate::case_list;
use crate::judge::{Case, Judge, Outcome, done, expect, id, refused};
use crate::message_cases::{numbered, stream_with_topic};

const UNAUTHORIZED: &[u32] = &[41];
const NOT_LOGGED_IN: &[u32] = &[40, 42];
const TAKEN: &[u32] = &[46];
const TOKEN_TAKEN: &[u32] = &[51];
const NO_SUCH_TOKEN: &[u32] = &[20, 40, 53];

pub fn cases() -> Vec<Case> {
    case_list![
        "a user is created, listed, renamed, silenced and deleted" => users,
        "permissions allow what they say, at once" => permissions,
        "a password is changed" => password,
        "a token logs in until it is deleted" => tokens,
    ]
}

async fn user(client: &IggyClient, name: &str, permissions: Option<Permissions>) -> Outcome {
    let status = UserStatus::Active;
    done("create user", client.create_user(name, "a-password", status, permissions)).await?;
    Ok(())
}

async fn logged_in(judge: &Judge, name: &str, password: &str) -> Result<IggyClient, String> {
    let client = judge.stranger().await?;
    done("login", client.login_user(name, password)).await?;
    Ok(client)
}

async fn users(judge: &Judge) -> Outcome {
    let root = judge.client().await?;
    let (name, renamed) = (judge.named("ann"), judge.named("anna"));
    user(&root, &name, None).await?;
    let status = UserStatus::Active;
    refused("twice", root.create_user(&name, "a-password", status, None), TAKEN).await?;
    let listed = done("list", root.get_users()).await?;
    expect("listed", listed.iter().any(|one| one.username == name), true)?;
    let no_options = UserUpdateOptions::default();
    done("rename", root.update_user(&id(&name), Some(&renamed), None, &no_options)).await?;
    let found = done("get", root.get_user(&id(&renamed))).await?;
    expect("found", found.map(|one| one.username), Some(renamed.clone()))?;
    expect("absent", done("get", root.get_user(&id(&name))).await?.is_none(), true)?;
    let silent = Some(UserStatus::Inactive);
    done("silence", root.update_user(&id(&renamed), None, silent, &no_options)).await?;
    let client = judge.stranger().await?;
    refused("inactive", client.login_user(&renamed, "a-password"), NOT_LOGGED_IN).await?;
    done("delete", root.delete_user(&id(&renamed))).await?;
    expect("gone", done("get", root.get_user(&id(&renamed))).await?.is_none(), true)
}

async fn permissions(judge: &Judge) -> Outcome {
    let root = judge.client().await?;
    let name = judge.named("bob");
    let stream = stream_with_topic(&root, judge, "permitted", 1).await?;
    let number = done("get", root.get_stream(&id(&stream))).await?.ok_or("no stream")?.id;
    user(&root, &name, None).await?;
    let bob = logged_in(judge, &name, "a-password").await?;
    refused("streams", bob.get_streams(), UNAUTHORIZED).await?;
    let may_send = StreamPermissions { send_messages: true, ..Default::default() };
    let granted = Permissions {
        global: GlobalPermissions { read_streams: true, ..Default::default() },
        streams: Some(BTreeMap::from([(number as usize, may_send)])),
    };
    done("grant", root.update_permissions(&id(&name), Some(granted.clone()))).await?;
    done("streams", bob.get_streams()).await?;
    let to = Partitioning::partition_id(0);
    let mut one = numbered(0, 1);
    done("send", bob.send_messages(&id(&stream), &id("one"), &to, &mut one)).await?;
    refused("create", bob.create_stream(&judge.named("bobs")), UNAUTHORIZED).await?;
    let shown = done("get", root.get_user(&id(&name))).await?.and_then(|one| one.permissions);
    expect("shown", shown, Some(granted))?;
    done("revoke", root.update_permissions(&id(&name), None)).await?;
    refused("streams", bob.get_streams(), UNAUTHORIZED).await?;
    done("delete", root.delete_user(&id(&name))).await?;
    done("delete", root.delete_stream(&id(&stream))).await
}

async fn password(judge: &Judge) -> Outcome {
    let root = judge.client().await?;
    let name = judge.named("carol");
    user(&root, &name, None).await?;
    let who = id(&name);
    let change = root.change_password(&who, "not-the-password", "another-one");
    refused("wrong current one", change, NOT_LOGGED_IN).await?;
    done("change", root.change_password(&who, "a-password", "another-one")).await?;
    let client = judge.stranger().await?;
    refused("old one", client.login_user(&name, "a-password"), NOT_LOGGED_IN).await?;
    logged_in(judge, &name, "another-one").await?;
    done("delete", root.delete_user(&id(&name))).await
}

async fn tokens(judge: &Judge) -> Outcome {
    let root = judge.client().await?;
    let name = judge.named("token");
    let expiry = PersonalAccessTokenExpiry::ExpireDuration(IggyDuration::new_from_secs(3600));
    let token = done("create", root.create_personal_access_token(&name, expiry)).await?.token;
    refused("twice", root.create_personal_access_token(&name, expiry), TOKEN_TAKEN).await?;
    let listed = done("list", root.get_personal_access_tokens()).await?;
    let own = listed.iter().find(|one| one.name == name).ok_or("the token is not listed")?;
    expect("expires", own.expiry_at.is_some(), true)?;
    let bearer = judge.stranger().await?;
    let identity = done("login", bearer.login_with_personal_access_token(&token)).await?;
    expect("user", identity.user_id, 0)?;
    done("streams", bearer.get_streams()).await?;
    done("delete", root.delete_personal_access_token(&name)).await?;
    let late = judge.stranger().await?;
    refused("deleted", late.login_with_personal_access_token(&token), NO_SUCH_TOKEN).await
}
