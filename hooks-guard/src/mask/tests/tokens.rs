//! Tests of tokens of many issuers: each token is masked within commands, and nothing else is.

use std::thread;

use crate::mask::Masked;

/// Token formats from public scanners, one issuer per line. Character classes in braces, with their
/// count: `h` hexadecimal digits, `d` digits, `l` lower case and digits, `A` upper case and digits,
/// `a` letters and digits, `w` `base64url`, `b` `base64`.
const SHAPES: &str = "
    adafruit        aio_{a28}
    anyscale        esecret_{l26}
    calcom          cal_live_{h32}
    daytona         dtn_{h64}
    deno            ddp_{a36} ddw_{a36}
    elastic         essu_{b88}
    exoscale        EXO{h24}
    infisical       st.{h24}.{h32}.{h32}
    llamaindex      llx-{a48}
    mixedbread      mxb_{a32}
    modal           ak-{a22} as-{a22}
    nostr           nsec1{l58}
    ntfy            tk_{l29}
    paddle          pdl_live_apikey_{l26}_{a22}_{a3}
    portainer       ptr_{b43}
    pushbullet      o.{a32}
    rootly          rootly_{h64}
    socket          sktsec_{w40}_api
    upcloud         ucat_{a26}
    valtown         vtwn_{a30}
    wakatime        waka_{h8}-{h4}-4{h3}-a{h3}-{h12}
    wallet          xprv{a107}
    wandb           wandb_v1_{a40}
    zuplo           zpka_{h32}_{h8}
    1password       A3-{A6}-{A11}-{A5}-{A5}-{A5} A3-{A6}-{A6}-{A5}-{A5}-{A5}-{A5} ops_eyJ{b260}
    adobe           p8e-{l32}
    age             AGE-SECRET-KEY-1{A58}
    aiven           AVNS_{w19}
    apify           apify_api_{a36}
    axiom           xaat-{h8}-{h4}-4{h3}-a{h3}-{h12}
    bitbucket       BBDC-{b44}
    brave           BSA{w28}
    browserbase     bb_live_{a28}
    buildkite       bkua_{h40}
    cerebras        csk-{l48}
    circleci        CCIPAT_{a22}_{h40}
    clickup         pk_{d8}_{A32}
    cockroach       CCDB1_{a22}_{a40}
    context7        ctx7sk-{h8}-{h4}-4{h3}-a{h3}-{h12}
    cursor          key_{h64} crsr_{h64}
    e2b             e2b_{h40}
    elevenlabs      sk_{h48}
    fernet          gAAAAAB{w93}
    firecrawl       fc-{h32}
    fireworks       fw_{a24}
    honeycomb       hcaik_{l58}
    hubspot         pat-na1-{h8}-{h4}-4{h3}-a{h3}-{h12}
    jina            jina_{a60}
    langfuse        sk-lf-{h8}-{h4}-4{h3}-a{h3}-{h12}
    langsmith       lsv2_pt_{h32}_{h10} lsv2_sk_{h32}_{h10}
    launchdarkly    sdk-{h8}-{h4}-4{h3}-a{h3}-{h12}
    mailersend      mlsn.{h64}
    neon            napi_{a64}
    openrouter      sk-or-v1-{h64}
    polar           polar_oat_{a43}
    resend          re_{a8}_{a24}
    runpod          rpa_{a44}
    scaleway        SCW{A17}
    snyk            snyk_uat.{a8}.{w90}
    together        tgp_v1_{w43}
    triggerdev      tr_prod_{a20}
    vercel          vcp_{a56} vercel_blob_rw_{a16}_{a30}
    voyage          pa-{w43}
    airtable        pat{a14}.{h64}
    alibaba         LTAI{l20}
    anthropic       sk-ant-admin01-{w93}AA sk-ant-api03-{w93}AA
    artifactory     AKCp{a69} cmVmd{a59}
    atlassian       ATATT3{w186} ATCTT3{w180} ATBB{a32}
    authress        sc_{l10}.{l5}.acc-{l12}.{w40} scauth_{l20}.{l4}.acc_{l20}.{w60}
    aws             AKIA{A16} ASIA{A16} ABIA{A16} ACCA{A16} A3TX{A16} ABSK{b120} bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t
    azure           {a3}8Q~{w34} ab~7Q~{w31}
    beamer          b_{w44}
    clickhouse      4b1d{a38}
    clojars         CLOJARS_{l60}
    cloudflare      v1.0-{h24}-{h146} cfut_{a48} cfat_{a48}
    contentful      CFPAT-{w43}
    databricks      dapi{h32} dapi{h32}-3
    digitalocean    doo_v1_{h64} dop_v1_{h64} dor_v1_{h64}
    docker          dckr_pat_{w27} dckr_oat_{w32} SWMTKN-1-{l49}-{l25}
    doppler         dp.pt.{a43} dp.ct.{a43} dp.st.dev.{a43} dp.sa.{a43} dp.scim.{a43} dp.audit.{a43}
    dropbox         sl.{w135}
    duffel          duffel_test_{w43} duffel_live_{w43}
    dynatrace       dt0c01.{A24}.{A64}
    easypost        EZAK{a54} EZTK{a54}
    facebook        EAAM{a120} EAAC{a110}
    figma           figd_{w40}
    flutterwave     FLWSECK_TEST-{h32}-X FLWPUBK_TEST-{h32}-X FLWSECK_TEST-{h12}
    fly             fo1_{w43} fm1a_{b120} fm1r_{b120} fm2_{b120}
    frameio         fio-u-{w64}
    gcp             AIza{w35} GOCSPX-{w28} ya29.{w60}
    github          ghp_{a36} gho_{a36} ghu_{a36} ghs_{a36} ghr_{a36} github_pat_{a22}_{a59}
    gitlab          glpat-{w20} glpat-{w27}.01.{l9} glptt-{h40} glrt-{w20} glrt-t1_{w27}.01.{l9} glcbt-{a4}_{w20} gldt-{w20} glffct-{w20} glft-{w20} glimt-{w25} glagent-{w50} gloas-{w64} glsoat-{w20} GR1348941{w20}
    gocardless      live_{w40}
    grafana         glc_{b60} glsa_{a32}_{h8} eyJrIjoi{a90}
    groq            gsk_{a52}
    harness         pat.{w22}.{a24}.{a20} sat.{w22}.{a24}.{a20}
    hashicorp       {a14}.atlasv1.{w64} hvs.{w95} hvb.{w140} s.{l24}
    heroku          HRKU-AA{w58}
    huggingface     hf_{a34} api_org_{a34}
    infracost       ico-{a32}
    intra42         s-s4t2ud-{h64} s-s4t2af-{h64}
    jwt             eyJ{a20}.eyJ{a40}.{w43} ZXlKaGJHY2lPaU{a90}
    linear          lin_api_{a40} lin_oauth_{h64}
    lob             live_{h35} test_{h35} live_pub_{h31} test_pub_{h31}
    mailchimp       {h32}-us12 {h32}-us7
    mailgun         key-{h32} pubkey-{h32}
    mapbox          pk.{l60}.{l22} sk.eyJ{a60}.{a22}
    maxmind         {a6}_{a29}_mmk
    netlify         nfp_{a36}
    networking      dnkey-{A26}-{A52}
    newrelic        NRJS-{h19} NRII-{w32} NRAK-{A27}
    notion          ntn_{d11}{a35} secret_{a43}
    npm             npm_{a36}
    nuget           oy2{l43}
    octopus         API-{A26}
    openai          sk-{a20}T3BlbkFJ{a20} sk-proj-{w74}T3BlbkFJ{w74} sk-svcacct-{w58}T3BlbkFJ{w58}
    openshift       sha256~{w43}
    perplexity      pplx-{a48}
    plaid           access-sandbox-{h8}-{h4}-{h4}-{h4}-{h12} access-production-{h8}-{h4}-{h4}-{h4}-{h12}
    planetscale     pscale_tkn_{w43} pscale_oauth_{w32} pscale_pw_{w43}
    postman         PMAK-{h24}-{h34}
    prefect         pnu_{a36}
    pulumi          pul-{h40}
    pypi            pypi-AgEIcHlwaS5vcmc{w90}
    readme          rdme_{l70}
    replicate       r8_{a37}
    rubygems        rubygems_{h48}
    scalingo        tk-us-{w48}
    sendgrid        SG.{w22}.{w43}
    sendinblue      xkeysib-{h64}-{a16}
    sentry          sntrys_eyJpYXQiO{a60}LCJyZWdpb25fdXJs{a40}=_{a43} sntryu_{h64}
    settlemint      sm_aat_{a16} sm_pat_{a16} sm_sat_{a16}
    shippo          shippo_live_{h40} shippo_test_{h40}
    shopify         shpat_{h32} shpca_{h32} shppa_{h32} shpss_{h32}
    slack           xoxb-{d12}-{d12}{a24} xoxp-{d11}-{d11}-{d11}-{h32} xoxa-2-{a40} xoxr-{a40} xoxs-{d10}-{d10}-{d10}-{h32} xoxo-{d10}-{d10}-{d10}-{h32} xoxe-1-{A146} xoxe.xoxb-1-{A164} xapp-1-{A10}-{d12}-{l64}
    sonar           squ_{h40} sqp_{h40} sqa_{h40}
    sourcegraph     sgp_{h16}_{h40} sgp_local_{h40} sgp_{h40}
    square          EAAA{w60} sq0atp-{w22} sq0csp-{w43}
    stripe          sk_live_{a24} sk_test_{a99} rk_live_{a24} rk_prod_{a24} sk_prod_{a24} whsec_{b32}
    supabase        sbp_{h40} sb_secret_{a22}_{a8}
    tailscale       tskey-auth-{a17}-{a32}
    telegram        {d10}:AA{w33}
    twilio          SK{h32}
    typeform        tfp_{w59}
    yandex          t1.{w40}.{w86} AQVN{w36} YC{w38}
";

/// Random texts, none of which is a real secret.
struct Chance(u64);

impl Chance {
    fn pick(&mut self, of: &[u8]) -> char {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let at = usize::try_from(self.0 >> 33).unwrap_or_default();
        char::from(of[at % of.len()])
    }

    fn sample(&mut self, shape: &str) -> String {
        const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
        const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
        const ALNUM: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        const URL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
        const BASE: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut sample = String::new();
        let mut rest = shape;
        while let Some((before, behind)) = rest.split_once('{') {
            let (run, behind) = behind.split_once('}').expect("a run ends");
            sample.push_str(before);
            let of = match &run[..1] {
                "h" => b"0123456789abcdef",
                "d" => &b"0123456789"[..],
                "l" => LOWER,
                "A" => UPPER,
                "a" => ALNUM,
                "w" => URL,
                "b" => BASE,
                _ => panic!("`{run}` in `{shape}`"),
            };
            let count: usize = run[1..].parse().expect("a number");
            // In the middle only, so that the token does not end like an option or a word.
            for at in 0..count {
                let of = if at == 0 || at + 1 == count {
                    &of[..10.min(of.len())]
                } else {
                    of
                };
                sample.push(self.pick(of));
            }
            rest = behind;
        }
        sample + rest
    }
}

#[test]
fn every_known_token_is_masked_in_every_position() {
    let mut chance = Chance(7);
    let shapes = SHAPES
        .lines()
        .flat_map(|line| line.split_whitespace().skip(1));
    let tokens: Vec<_> = shapes
        .flat_map(|shape| [shape; 3])
        .map(|shape| (shape, chance.sample(shape)))
        .collect();
    let shown = thread::scope(|scope| {
        let parts = tokens.chunks(tokens.len().div_ceil(3));
        let started: Vec<_> = parts
            .map(|tokens| scope.spawn(|| tokens.iter().flat_map(shown_of).collect::<Vec<_>>()))
            .collect();
        let shown = started.into_iter().map(|part| part.join());
        shown.collect::<Result<Vec<_>, _>>().expect("no panic")
    });
    let shown = shown.concat();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}

/// Returns the commands that show a token of this shape, and how they are shown.
fn shown_of((shape, token): &(&str, String)) -> Vec<String> {
    let mut shown = Vec::new();
    for command in [
        format!("frob {token}"),
        format!("frob {token} --then this"),
        format!("FROB={token} make"),
        format!("frob --with={token}"),
        format!("curl -H 'X-Frob: {token}' https://x.example/a"),
        format!("curl 'https://x.example/a?frob={token}&page=2'"),
        format!("curl https://x.example/{token}/a"),
        format!("frob \"{token}\" '{token}'"),
        format!("frob '{{\"frob\":\"{token}\"}}'"),
        format!("echo {token} | frob; ls"),
    ] {
        let stored = Masked::for_storage(&command).text;
        // A slash may belong to it.
        let start = command.split_once(token).map_or("", |(start, _)| start);
        let is_path = command.ends_with("/a") && stored == format!("{start}[secret]");
        if stored != command.replace(token, "[secret]") && !is_path {
            shown.push(format!("{shape}: {command}\n  {stored}"));
        }
        // A model gets no more than the trail.
        let asked = Masked::for_model(&command).text;
        let mut pieces = token.as_bytes().windows(12);
        if pieces.any(|piece| asked.as_bytes().windows(12).any(|of| of == piece)) {
            shown.push(format!("{shape}: {command}\n  {asked}"));
        }
    }
    shown
}

#[test]
fn texts_that_resemble_tokens_are_stored_unchanged() {
    let mut chance = Chance(11);
    let (commit, digest) = (chance.sample("{h40}"), chance.sample("{h64}"));
    let uuid = chance.sample("{h8}-{h4}-4{h3}-a{h3}-{h12}");
    for command in [
        format!("git show {commit}"),
        format!("git diff {commit}..{digest}"),
        "git show 4b1d3e5f7a9c0b2d4f6e8a1c3b5d7f9e0a2c4e6f".to_owned(),
        format!("docker pull alpine@sha256:{digest}"),
        format!("echo {digest} a.tgz | sha256sum -c"),
        format!("sha256sum --check <<< '4b1d{}  a'", &digest[4..]),
        format!("curl https://x.example/items/{uuid}"),
        format!("kubectl get pod/{uuid}"),
        format!("ls ~/.cache/frob/{digest}/{uuid}"),
        format!("gh cache delete node-key-{}", &digest[..32]),
        format!("gh run view --job 4b1d-{uuid}"),
        "pip install scikit-learn hf_transfer".to_owned(),
        "npm_config_registry=https://x.example npm_config_cache_min=1 npm ci".to_owned(),
        "cargo test test_that_every_known_shape_is_found_in_its_place".to_owned(),
        "cargo test live_reload_of_the_page_when_a_file_was_changed".to_owned(),
        "python3 -c 'import re; s.replace(x, y); pat.findall(s)'".to_owned(),
        "aws s3 ls s3://access-production-logs/2026".to_owned(),
        "kubectl get secret_store -n dapi-system".to_owned(),
        "ls AKIA.txt SK.csv API-GATEWAY sntrys_ shpat_ glsa_dashboards.json".to_owned(),
        "grep -r 'xkeysib-' src && grep -rn ghp_ .".to_owned(),
        "git checkout feature/lin_api_client pul-requests".to_owned(),
        "dig TXT _dmarc.example.us12 key-signing.example".to_owned(),
        "cat atlasv1.md test_data/live_stream.json r8_module".to_owned(),
        "npm i @scope/fw_utils re_export_all_of_the_names_in_this_module".to_owned(),
        "git log --grep api-gateway sdk-core pa-checkout-flow-of-the-shop".to_owned(),
        "echo sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==".to_owned(),
        "ssh-keygen -lf k | grep SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8".to_owned(),
        "kubectl get pod api-7d4b9c6f5d-x2x9z key_of_the_map".to_owned(),
        format!("docker inspect api-{}", &commit[..12]),
        "make EAAC EAAA tfp_rate rdme_build ico-convert".to_owned(),
    ] {
        assert_eq!(Masked::for_storage(&command).text, command);
    }
}

#[test]
fn code_next_to_a_token_is_not_masked() {
    let token = Chance(3).sample("dapi{h32}");
    assert_eq!(
        Masked::for_storage(&format!("frob {token};rm -r src")).text,
        "frob [secret];rm -r src"
    );
    let token = Chance(3).sample("{d10}:AA{w33}");
    assert_eq!(
        Masked::for_storage(&format!("frob {token}$(rm -r src)")).text,
        "frob [secret]$(rm -r src)"
    );
}
