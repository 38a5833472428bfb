//! Tokens with a recognisable format: a mark, mostly a prefix, and a number of characters of an
//! alphabet. Takes a text; returns the ranges of its tokens.
//!
//! The marks and lengths are published by the issuers and used by public scanners. A length is a
//! lower bound, often below the issuer's: a truncated token is still recognised.

use std::ops::Range;

/// Returns `true` for the characters of a token.
type Alphabet = fn(u8) -> bool;

const DIGITS: Alphabet = |byte| byte.is_ascii_digit();
const HEX: Alphabet = |byte| byte.is_ascii_hexdigit();
const UPPER: Alphabet = |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit();
const ALNUM: Alphabet = |byte| byte.is_ascii_alphanumeric();
const WORD: Alphabet = |byte| ALNUM(byte) || byte == b'_';
const URL: Alphabet = |byte| WORD(byte) || byte == b'-';
const DASHED_HEX: Alphabet = |byte| HEX(byte) || byte == b'-';
const DASHED_UPPER: Alphabet = |byte| UPPER(byte) || byte == b'-';
/// Words separated by dots.
const NAMES: Alphabet = |byte| WORD(byte) || byte == b'.';
const TILDED: Alphabet = |byte| NAMES(byte) || byte == b'~';
const DASHED: Alphabet = |byte| TILDED(byte) || byte == b'-';
/// `base64url` parts separated by dots.
const DOTTED: Alphabet = |byte| URL(byte) || matches!(byte, b'.' | b'=');
const BASE64: Alphabet = |byte| ALNUM(byte) || matches!(byte, b'+' | b'/' | b'=');
const ANY: Alphabet = |byte| DOTTED(byte) || matches!(byte, b'+' | b'/' | b'~' | b':');

/// Format of a token.
#[derive(Clone, Copy)]
pub(super) struct TokenFormat {
    /// Alphabet and minimum length of the text before the mark.
    before: (Alphabet, usize),
    mark: &'static str,
    alphabet: Alphabet,
    min_length: usize,
    max_length: usize,
    /// If `true`, the token must be a whole word, because its mark occurs in other words, too.
    is_whole_word: bool,
}

/// Returns the format of a token with this prefix.
const fn prefix(mark: &'static str, alphabet: Alphabet, least: usize) -> TokenFormat {
    TokenFormat {
        before: (ALNUM, 0),
        mark,
        alphabet,
        min_length: least,
        max_length: usize::MAX,
        is_whole_word: false,
    }
}

impl TokenFormat {
    /// Sets a maximum length: longer texts are something else, such as a digest.
    const fn at_most(mut self, most: usize) -> Self {
        self.max_length = most;
        self
    }

    const fn whole_word(mut self) -> Self {
        self.is_whole_word = true;
        self
    }

    /// Requires at least `least` characters before the mark.
    const fn after_at_least(mut self, alphabet: Alphabet, least: usize) -> Self {
        self.before = (alphabet, least);
        self
    }

    /// Returns a text that every such token contains.
    pub(super) const fn mark(&self) -> &'static str {
        self.mark
    }

    /// Returns the ranges of such tokens in a text.
    pub(super) fn find<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        let marks = text.match_indices(self.mark).map(|(at, _)| at);
        marks.filter_map(|at| self.token_around(text.as_bytes(), at))
    }

    /// Returns the token around a mark, if the text there has the format.
    fn token_around(&self, text: &[u8], mark: usize) -> Option<Range<usize>> {
        let run = |bytes: &mut dyn Iterator<Item = &u8>, of: Alphabet| {
            bytes.take_while(|byte| of(**byte)).count()
        };
        let (before, least) = self.before;
        let start = match least {
            0 => mark,
            _ => mark - run(&mut text[..mark].iter().rev(), before),
        };
        let behind = mark + self.mark.len();
        let length = run(&mut text[behind..].iter(), self.alphabet);
        let is_joined = |byte: &u8| match self.is_whole_word {
            true => URL(*byte) || *byte == b'.',
            false => WORD(*byte),
        };
        let is_token = mark - start >= least
            && (self.min_length..=self.max_length).contains(&length)
            && !text[..start].last().is_some_and(is_joined);
        is_token.then(|| start..behind + length)
    }
}

/// All known formats, by issuer.
pub(super) const TOKENS: &[TokenFormat] = &[
    // Forges
    prefix("ghp_", WORD, 4),
    prefix("gho_", WORD, 4),
    prefix("ghu_", WORD, 4),
    prefix("ghs_", WORD, 4),
    prefix("ghr_", WORD, 4),
    prefix("github_pat_", WORD, 4),
    prefix("glpat-", DOTTED, 8),
    prefix("glptt-", URL, 8),
    prefix("glrt-", DOTTED, 8),
    prefix("glrtr-", DOTTED, 8),
    prefix("glcbt-", URL, 12),
    prefix("gldt-", URL, 12),
    prefix("glffct-", URL, 12),
    prefix("glft-", URL, 12),
    prefix("glimt-", URL, 12),
    prefix("glagent-", URL, 20),
    prefix("gloas-", URL, 20),
    prefix("glsoat-", URL, 12),
    prefix("glwt-", URL, 20),
    prefix("GR1348941", URL, 12),
    prefix("ATATT3", DOTTED, 40),
    prefix("ATCTT3", DOTTED, 40),
    prefix("ATBB", ALNUM, 28).whole_word(),
    prefix("sgp_", WORD, 32),
    prefix("sgamp_", WORD, 32),
    prefix("BBDC-", BASE64, 40),
    prefix("ATTA", ALNUM, 64).whole_word(),
    // Clouds
    prefix("AKIA", UPPER, 8),
    prefix("ASIA", UPPER, 8),
    prefix("ABIA", UPPER, 8),
    prefix("ACCA", UPPER, 8),
    prefix("A3T", UPPER, 17).at_most(17).whole_word(),
    prefix("ABSK", BASE64, 60).whole_word(),
    prefix("bedrock-api-key-", BASE64, 16),
    prefix("IQoJb3", BASE64, 60).whole_word(),
    prefix("FwoGZX", BASE64, 60).whole_word(),
    prefix("SCW", UPPER, 17).at_most(17).whole_word(),
    prefix("AQ.Ab", URL, 30),
    prefix("cfut_", URL, 40),
    prefix("cfat_", URL, 40),
    prefix("cfk_", URL, 40),
    prefix("vcp_", ALNUM, 24).whole_word(),
    prefix("vci_", ALNUM, 24).whole_word(),
    prefix("vca_", ALNUM, 24).whole_word(),
    prefix("vcr_", ALNUM, 24).whole_word(),
    prefix("vck_", ALNUM, 24).whole_word(),
    prefix("vercel_blob_rw_", WORD, 30),
    prefix("AIza", URL, 16),
    prefix("ya29.", DOTTED, 4),
    prefix("GOCSPX-", URL, 20),
    prefix("1//0", URL, 40).whole_word(),
    // Azure AD: three characters and a digit before the mark.
    prefix("Q~", DASHED, 28).after_at_least(TILDED, 4),
    prefix("LTAI", ALNUM, 12).at_most(26).whole_word(),
    prefix("AKID", ALNUM, 32).whole_word(),
    prefix("doo_v1_", HEX, 16),
    prefix("dop_v1_", HEX, 16),
    prefix("dor_v1_", HEX, 16),
    prefix("v1.0-", DASHED_HEX, 100),
    prefix("HRKU-", URL, 30),
    prefix("fo1_", URL, 40),
    prefix("fm1a_", BASE64, 60),
    prefix("fm1r_", BASE64, 60),
    prefix("fm2_", BASE64, 60),
    prefix("nfp_", ALNUM, 30),
    prefix("nfo_", ALNUM, 30),
    prefix("nfc_", ALNUM, 30),
    prefix("nfb_", ALNUM, 30),
    prefix("nfu_", ALNUM, 30),
    prefix("tk-us-", URL, 40),
    prefix("t1.", DOTTED, 90).whole_word(),
    prefix("AQVN", URL, 35).at_most(40).whole_word(),
    prefix("YC", URL, 38).at_most(38).whole_word(),
    prefix("tskey-", URL, 16),
    prefix("sbp_", HEX, 40),
    prefix("sb_secret_", WORD, 20),
    prefix("rnd_", ALNUM, 28).whole_word(),
    // Data
    prefix("dapi", DASHED_HEX, 32),
    prefix("dose", HEX, 32).at_most(32).whole_word(),
    prefix("4b1d", ALNUM, 38).at_most(38).whole_word(),
    prefix("pscale_tkn_", DOTTED, 24),
    prefix("pscale_oauth_", DOTTED, 24),
    prefix("pscale_pw_", DOTTED, 24),
    prefix("pcsk_", WORD, 32),
    prefix("AVNS_", URL, 15),
    prefix("CCDB1_", WORD, 30),
    prefix("napi_", ALNUM, 40),
    prefix("xau_", ALNUM, 30),
    prefix("pat", DOTTED, 79).at_most(79).whole_word(),
    // Builds and infrastructure
    prefix("pul-", HEX, 32),
    prefix(".atlasv1.", DOTTED, 40).after_at_least(ALNUM, 14),
    prefix("hvs.", URL, 8),
    prefix("hvb.", URL, 8),
    prefix("hvr.", URL, 8),
    prefix("s.", ALNUM, 24).at_most(24).whole_word(),
    prefix("dp.pt.", ALNUM, 32),
    prefix("dp.ct.", ALNUM, 32),
    prefix("dp.sa.", ALNUM, 32),
    prefix("dp.st.", DOTTED, 32),
    prefix("dp.scim.", ALNUM, 32),
    prefix("dp.audit.", ALNUM, 32),
    prefix("ops_eyJ", BASE64, 60),
    prefix("CCIPAT_", WORD, 40),
    prefix("CCIPRJ_", WORD, 40),
    prefix("bkua_", HEX, 40),
    prefix("bkaj_", HEX, 40),
    prefix("bkct_", HEX, 40),
    prefix("snyk_uat.", DOTTED, 40),
    prefix("snyk_sat.", DOTTED, 40),
    prefix("tr_dev_", ALNUM, 20),
    prefix("tr_prod_", ALNUM, 20),
    prefix("signkey-prod-", HEX, 32),
    prefix("signkey-test-", HEX, 32),
    prefix("gAAAAAB", URL, 70),
    prefix("v4.local.", DOTTED, 60),
    prefix("v3.local.", DOTTED, 60),
    prefix("v2.local.", DOTTED, 60),
    prefix("A3-", DASHED_UPPER, 30).whole_word(),
    prefix("pat.", DOTTED, 66).whole_word(),
    prefix("sat.", DOTTED, 66).whole_word(),
    prefix("pnu_", ALNUM, 30),
    prefix("pnb_", ALNUM, 30),
    prefix("ico-", ALNUM, 30).whole_word(),
    prefix("API-", UPPER, 25).at_most(30).whole_word(),
    prefix("sha256~", URL, 40),
    prefix("dckr_pat_", URL, 8),
    prefix("dckr_oat_", URL, 8),
    prefix("SWMTKN-", URL, 40),
    prefix("AKCp", ALNUM, 60).whole_word(),
    prefix("cmVmd", ALNUM, 55).whole_word(),
    prefix("squ_", HEX, 32),
    prefix("sqp_", HEX, 32),
    prefix("sqa_", HEX, 32),
    prefix("AGE-SECRET-KEY-", WORD, 1),
    prefix("dnkey-", DOTTED, 60),
    prefix(".acc-", ANY, 40).after_at_least(NAMES, 8),
    prefix(".acc_", ANY, 40).after_at_least(NAMES, 8),
    prefix("sm_aat_", ALNUM, 16),
    prefix("sm_pat_", ALNUM, 16),
    prefix("sm_sat_", ALNUM, 16),
    prefix("s-s4t2ud-", HEX, 32),
    prefix("s-s4t2af-", HEX, 32),
    // Packages
    prefix("npm_", ALNUM, 30),
    prefix("pypi-", URL, 16),
    prefix("rubygems_", HEX, 32),
    prefix("CLOJARS_", ALNUM, 40),
    prefix("clojars_", ALNUM, 40),
    prefix("oy2", ALNUM, 43).at_most(43).whole_word(),
    prefix("cio", ALNUM, 32).at_most(32).whole_word(),
    // Models
    prefix("sk-", URL, 8),
    prefix("hf_", ALNUM, 16),
    prefix("api_org_", ALNUM, 30),
    prefix("gsk_", ALNUM, 30),
    prefix("xai-", ALNUM, 40),
    prefix("r8_", ALNUM, 30),
    prefix("nvapi-", URL, 40),
    prefix("pplx-", ALNUM, 32),
    prefix("tvly-", URL, 24),
    prefix("ctx7sk-", DASHED_HEX, 32),
    prefix("csk-", ALNUM, 40),
    prefix("fw_", ALNUM, 20).at_most(32).whole_word(),
    prefix("tgp_v1_", URL, 40),
    prefix("e2b_", HEX, 32),
    prefix("lsv2_pt_", WORD, 32),
    prefix("lsv2_sk_", WORD, 32),
    prefix("fc-", HEX, 32).at_most(32).whole_word(),
    prefix("jina_", URL, 40),
    prefix("pa-", URL, 40).at_most(46).whole_word(),
    prefix("BSA", URL, 27).at_most(29).whole_word(),
    prefix("sk_", HEX, 48).at_most(48).whole_word(),
    prefix("key_", HEX, 64).at_most(64).whole_word(),
    prefix("crsr_", HEX, 40),
    prefix("rpa_", ALNUM, 40),
    prefix("apify_api_", ALNUM, 30),
    prefix("bb_live_", WORD, 20),
    // Monitoring
    prefix("sntrys_", ANY, 32),
    prefix("sntryu_", HEX, 32),
    prefix("sntrya_", HEX, 32),
    prefix("sntryi_", HEX, 32),
    prefix("glc_", BASE64, 30),
    prefix("glsa_", WORD, 32),
    prefix("eyJrIjoi", BASE64, 40),
    prefix("dt0c01.", DOTTED, 64),
    prefix("dt0s01.", DOTTED, 64),
    prefix("NRJS-", HEX, 16),
    prefix("NRII-", URL, 24),
    prefix("NRAK-", UPPER, 24),
    prefix("hcaik_", ALNUM, 40),
    prefix("hcbik_", ALNUM, 40),
    prefix("hcxik_", ALNUM, 40),
    prefix("xaat-", DASHED_HEX, 36),
    prefix("xapt-", DASHED_HEX, 36),
    prefix("sdk-", DASHED_HEX, 36).at_most(36).whole_word(),
    prefix("api-", DASHED_HEX, 36).at_most(36).whole_word(),
    prefix("phs_", ALNUM, 32),
    prefix("phc_", ALNUM, 32),
    prefix("phx_", ALNUM, 32),
    // Work
    prefix("lin_api_", ALNUM, 32),
    prefix("lin_oauth_", ALNUM, 32),
    prefix("lin_wh_", ALNUM, 32),
    prefix("polar_oat_", WORD, 32),
    prefix("ntn_", ALNUM, 40),
    prefix("secret_", ALNUM, 40),
    prefix("figd_", URL, 32),
    prefix("figu_", URL, 32),
    prefix("fio-u-", DOTTED, 50),
    prefix("PMAK-", DASHED_HEX, 40),
    prefix("rdme_", ALNUM, 50),
    prefix("tfp_", DOTTED, 44),
    prefix("CFPAT-", URL, 40),
    prefix("p8e-", ALNUM, 32),
    prefix("sl.", DOTTED, 100).whole_word(),
    prefix("b_", DOTTED, 44).at_most(44).whole_word(),
    prefix("sk.eyJ", DOTTED, 40),
    prefix("pk.eyJ", DOTTED, 40),
    prefix("pk.", DOTTED, 80).whole_word(),
    prefix("_mmk", ALNUM, 0).at_most(0).after_at_least(WORD, 30),
    prefix("st.", DOTTED, 80).whole_word(),
    prefix("dtn_", HEX, 40),
    prefix("rootly_", HEX, 40),
    prefix("ddp_", ALNUM, 36),
    prefix("ddw_", ALNUM, 36),
    prefix("pdl_live_", WORD, 30),
    prefix("pdl_sdbx_", WORD, 30),
    prefix("ak-", ALNUM, 22).at_most(22).whole_word(),
    prefix("as-", ALNUM, 22).at_most(22).whole_word(),
    prefix("sktsec_", WORD, 30),
    prefix("aio_", ALNUM, 28),
    prefix("xprv", ALNUM, 100),
    prefix("nsec1", ALNUM, 58),
    prefix("zpka_", WORD, 30),
    prefix("vtwn_", WORD, 20),
    prefix("essu_", BASE64, 40),
    prefix("ptr_", BASE64, 40),
    prefix("tk_", ALNUM, 29).at_most(29).whole_word(),
    prefix("o.", ALNUM, 32).at_most(32).whole_word(),
    prefix("waka_", DASHED_HEX, 36),
    prefix("cal_live_", HEX, 32),
    prefix("esecret_", ALNUM, 24),
    prefix("mxb_", ALNUM, 30),
    prefix("llx-", ALNUM, 40),
    prefix("wandb_v1_", WORD, 30),
    prefix("ucat_", ALNUM, 24),
    prefix("EXO", HEX, 24).at_most(24).whole_word(),
    // Mail and messages
    prefix("SG.", DOTTED, 20),
    prefix("xkeysib-", URL, 40),
    prefix("mlsn.", HEX, 60),
    prefix("xwfp-", URL, 20),
    prefix("xsmtpsib-", URL, 40),
    prefix("key-", HEX, 32).at_most(32).whole_word(),
    prefix("pubkey-", HEX, 32).at_most(32).whole_word(),
    prefix("-us", DIGITS, 1).at_most(2).after_at_least(HEX, 32),
    prefix("SK", HEX, 32).at_most(32).whole_word(),
    prefix("xapp-", URL, 8),
    prefix("xoxa-", URL, 4),
    prefix("xoxb-", URL, 4),
    prefix("xoxc-", URL, 4),
    prefix("xoxd-", ANY, 4),
    prefix("xoxe-", URL, 4),
    prefix("xoxo-", URL, 4),
    prefix("xoxp-", URL, 4),
    prefix("xoxr-", URL, 4),
    prefix("xoxs-", URL, 4),
    prefix("xoxe.xox", URL, 4),
    prefix(":AA", URL, 24).after_at_least(DIGITS, 8),
    prefix("|", URL, 27).at_most(40).after_at_least(DIGITS, 15),
    prefix("ZXlK", BASE64, 60).whole_word(),
    // Payments and shops
    prefix("sk_live_", WORD, 4),
    prefix("sk_test_", WORD, 4),
    prefix("sk_prod_", WORD, 4),
    prefix("rk_live_", WORD, 4),
    prefix("rk_test_", WORD, 4),
    prefix("rk_prod_", WORD, 4),
    prefix("pk_live_", WORD, 4),
    prefix("pk_test_", WORD, 4),
    prefix("whsec_", BASE64, 8),
    prefix("live_", HEX, 35).at_most(35).whole_word(),
    prefix("live_", URL, 40).at_most(40).whole_word(),
    prefix("live_pub_", HEX, 31),
    prefix("test_", HEX, 35).at_most(35).whole_word(),
    prefix("test_pub_", HEX, 31),
    prefix("rzp_live_", ALNUM, 14),
    prefix("rzp_test_", ALNUM, 14),
    prefix("shpat_", HEX, 16),
    prefix("shpca_", HEX, 16),
    prefix("shppa_", HEX, 16),
    prefix("shpua_", HEX, 16),
    prefix("shpss_", HEX, 16),
    prefix("shptka_", HEX, 16),
    prefix("shippo_live_", HEX, 32),
    prefix("shippo_test_", HEX, 32),
    prefix("duffel_live_", DOTTED, 32),
    prefix("duffel_test_", DOTTED, 32),
    prefix("EZAK", ALNUM, 54).whole_word(),
    prefix("EZTK", ALNUM, 54).whole_word(),
    prefix("FLWSECK", URL, 17),
    prefix("FLWPUBK", URL, 17),
    prefix("EAAA", URL, 22).whole_word(),
    prefix("EAA", ALNUM, 80).whole_word(),
    prefix("sq0atp-", URL, 20),
    prefix("sq0csp-", URL, 20),
    prefix("access-sandbox-", DASHED_HEX, 30),
    prefix("access-development-", DASHED_HEX, 30),
    prefix("access-production-", DASHED_HEX, 30),
];
