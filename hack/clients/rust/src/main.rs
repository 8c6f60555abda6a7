//! Runs the Rust client kube-rs against one address, and prints what it received.

use std::{collections::BTreeMap, env, error::Error, sync::Arc, time::Duration};

use futures::{AsyncBufReadExt, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::{
    Api, Client, ResourceExt,
    api::{
        ApiResource, AttachParams, DeleteParams, DynamicObject, GroupVersionKind, ListParams, LogParams, Patch,
        PatchParams,
    },
    runtime::{Controller, WatchStreamExt, controller::Action, watcher},
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Result<()> {
    let [namespace, pod, container, name] = &env::args().skip(1).collect::<Vec<_>>()[..] else {
        return Err("NAMESPACE POD CONTAINER NAME".into());
    };
    let client = Client::try_default().await?;
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    println!("pods: {}", pods.list(&ListParams::default()).await?.items.len());
    let kind = GroupVersionKind::gvk("resources.platform.io", "v1alpha3", "Node");
    let nodes: Api<DynamicObject> = Api::all_with(client.clone(), &ApiResource::from_gvk(&kind));
    println!("aggregated nodes: {}", nodes.list(&ListParams::default()).await?.items.len());
    println!("exec: {}", exec(&pods, pod, container).await?);
    println!("log: {}", log(&pods, pod, container).await?);
    println!("port-forward: {}", forward(&pods, pod).await?);
    println!("controller: {}", reconcile(&maps, name).await?);
    println!("watcher: {}", watch(&maps, name).await?);
    Ok(())
}

async fn exec(pods: &Api<Pod>, pod: &str, container: &str) -> Result<String> {
    let parameters = AttachParams::default().container(container).stdin(true).stderr(false);
    let mut process = pods.exec(pod, ["head", "-n", "1"], &parameters).await?;
    let mut input = process.stdin().ok_or("no input")?;
    input.write_all(b"the input\n").await?;
    let mut output = String::new();
    process.stdout().ok_or("no output")?.read_to_string(&mut output).await?;
    Ok(output.trim().to_owned())
}

async fn log(pods: &Api<Pod>, pod: &str, container: &str) -> Result<String> {
    let parameters = LogParams { container: Some(container.to_owned()), follow: true, ..LogParams::default() };
    let mut lines = pods.log_stream(pod, &parameters).await?.lines();
    Ok(lines.try_next().await?.unwrap_or_default())
}

async fn forward(pods: &Api<Pod>, pod: &str) -> Result<String> {
    let mut forwarder = pods.portforward(pod, &[8080]).await?;
    let mut stream = forwarder.take_stream(8080).ok_or("no stream")?;
    stream.write_all(b"through a port").await?;
    let mut echo = [0; 14];
    stream.read_exact(&mut echo).await?;
    Ok(String::from_utf8_lossy(&echo).into_owned())
}

/// A controller that counts how often it was called for an object, in an annotation.
async fn reconcile(maps: &Api<ConfigMap>, name: &str) -> Result<String> {
    apply(maps, name, "1").await?;
    let selected = watcher::Config::default().fields(&format!("metadata.name={name}")).streaming_lists();
    let seen = Controller::new(maps.clone(), selected)
        .run(
            |object: Arc<ConfigMap>, maps: Arc<Api<ConfigMap>>| async move {
                let patch = Patch::Merge(serde_json::json!({"metadata": {"annotations": {"reconciled": "yes"}}}));
                maps.patch(&object.name_any(), &PatchParams::default(), &patch).await?;
                Ok::<_, kube::Error>(Action::requeue(Duration::from_secs(600)))
            },
            |_, _, _| Action::requeue(Duration::from_secs(1)),
            Arc::new(maps.clone()),
        )
        .boxed()
        .next()
        .await;
    seen.ok_or("the controller ended")??;
    let annotations = maps.get(name).await?.annotations().clone();
    Ok(format!("{annotations:?}"))
}

async fn watch(maps: &Api<ConfigMap>, name: &str) -> Result<String> {
    let selected = watcher::Config::default().fields(&format!("metadata.name={name}"));
    let mut objects = watcher(maps.clone(), selected).applied_objects().boxed();
    let before = objects.try_next().await?.and_then(|object| object.data);
    apply(maps, name, "2").await?;
    let after = objects.try_next().await?.and_then(|object| object.data);
    maps.delete(name, &DeleteParams::default()).await?;
    Ok(format!("{before:?}, {after:?}"))
}

async fn apply(maps: &Api<ConfigMap>, name: &str, value: &str) -> Result<()> {
    let object = ConfigMap {
        metadata: kube::api::ObjectMeta { name: Some(name.to_owned()), ..Default::default() },
        data: Some(BTreeMap::from([("a".to_owned(), value.to_owned())])),
        ..ConfigMap::default()
    };
    maps.patch(name, &PatchParams::apply("rust").force(), &Patch::Apply(&object)).await?;
    Ok(())
}
