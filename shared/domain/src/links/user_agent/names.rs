//! The words by which user agents are told apart, all in lower case.
//!
//! A name belongs here when it is met often, or when the rules of [`super`] get it wrong without. A
//! space before a name keeps it from being found inside another.

/// The previews whose name starts with those two letters, which leaves hardly any for the words of
/// people's browsers. Signal asks as `WhatsApp`; iMessage, Line and Kakao as `facebookexternalhit`.
/// Apps of the same makers in which people follow links (`[Pinterest/iOS]`, `Snapchat/`,
/// `[LinkedInApp]`, `Telegram-Android`) are not meant.
pub(super) fn previews(start: [u8; 2]) -> &'static [&'static str] {
    match &start.map(|byte| byte.to_ascii_lowercase()) {
        b"ap" => &["applebot"],
        b"bi" => &["bitlybot"],
        b"ca" => &["cardyb"],
        b"di" => &["discordbot"],
        b"em" => &["embedly"],
        b"fa" => &["facebookexternalhit", "facebot"],
        b"fl" => &["flipboardproxy"],
        b"go" => &["google-pagerenderer"],
        b"if" => &["iframely"],
        b"ka" => &["kakaotalk-scrap"],
        b"le" => &["lemmy/"],
        b"li" => &["linkedinbot"],
        b"ma" => &["mastodon/", "mattermost-bot"],
        b"mi" => &["misskey/"],
        b"od" => &["odklbot"],
        b"pi" => &["pinterestbot", "pinterest/0."],
        b"pl" => &["pleroma"],
        b"qu" => &["quora link preview"],
        b"re" => &["redditbot"],
        b"sk" => &["skypeuripreview"],
        b"sl" => &["slackbot", "slack-imgproxy"],
        b"sn" => &["snap url preview"],
        b"su" => &["summalybot"],
        b"sy" => &["synapse (bot"],
        b"te" => &["telegrambot"],
        b"tw" => &["twitterbot"],
        b"vk" => &["vkshare"],
        b"wh" => &["whatsapp"],
        b"xi" => &["xing-contenttabreceiver"],
        _ => &[],
    }
}

/// One of these is somewhere in what people browse with: all of today's browsers say that they are
/// Mozilla, old ones that they are Opera, and phones with keys that they run MIDP.
pub(super) const FAMILIES: &[&str] = &["mozilla/", "opera/", "ucweb/", "midp"];

/// One of these, too.
pub(super) const ENGINES: &[&str] =
    &["gecko", "webkit", "msie", "trident/", "opera", "khtml", "midp", "ucweb/", "playstation"];

/// What people's browsers never say. An address to complain to is the surest sign of all.
pub(super) const ROBOTS: &[&str] = &[
    "://",
    "www.",
    "crawl",
    "spider",
    "scrap",
    "slurp",
    "fetch",
    "archive",
    "headless",
    "phantomjs",
    "puppeteer",
    "playwright",
    "selenium",
    "cypress/",
    "lighthouse",
    "preview",
    "validator",
    "monitor",
    "uptime",
    "pingdom",
    "statuscake",
    "site24x7",
    "datadog",
    "synthetic",
    "newrelic",
    "catchpoint",
    "gtmetrix",
    "ptst/",
    "googleother",
    "google-",
    "google favicon",
    "google web preview",
    "mediapartners",
    "adsbot",
    "externalagent",
    "chatgpt-user",
    "claude-user",
    "perplexity-user",
    "google page speed",
    "google search console",
    "linkcheck",
    "screenshot",
    "siteimprove",
    "ips-agent",
    "dareboost",
    "ptst ",
    "python",
    "curl/",
    "wget",
    "libwww",
    "httpclient",
    "okhttp",
    "axios",
    "powershell",
    "postman",
    "insomnia",
];

/// Consoles; a phone may boast of the same maker.
pub(super) const CONSOLES: &[&str] = &["playstation", "nintendo", "xbox"];

/// Televisions and boxes; `; aft` starts the model names of the Fire TV.
pub(super) const TVS: &[&str] = &[
    "smart-tv",
    "smarttv",
    "smart tv",
    "hbbtv",
    "googletv",
    "google tv",
    "android tv",
    "appletv",
    "apple tv",
    "web0s",
    "webos.tv",
    "netcast",
    "bravia",
    "viera",
    "crkey",
    "roku",
    "; aft",
];

/// Tablets that say so.
pub(super) const TABLETS: &[&str] = &["ipad", "tablet", "kindle", "playbook", "; ipd"];

/// Phones that say so.
pub(super) const MOBILES: &[&str] = &[
    "mobile",
    "iphone",
    "ipod",
    "windows phone",
    "opera mini",
    "opera mobi",
    "blackberry",
    "bb10",
    "kaios",
    "symbian",
    "series60",
    "midp",
    "nokia",
    "; iph ",
    "windows ce",
    "palm",
];

pub(super) const DESKTOPS: &[&str] =
    &["windows", "macintosh", "x11", "linux", "cros ", "freebsd", "openbsd"];

/// The first that matches is it: apps before the browser that they show pages with, browsers before
/// the one that they are made of.
pub(super) const BROWSERS: &[(&[&str], &str)] = &[
    (&["instagram"], "Instagram"),
    (&[" barcelona "], "Threads"),
    (&["fban/", "fbav/", "fb_iab/"], "Facebook"),
    (&["musical_ly", "tiktok", "bytedancewebview", "bytelocale/", " trill_"], "TikTok"),
    (&["micromessenger/"], "WeChat"),
    (&[" line/"], "Line"),
    (&["snapchat"], "Snapchat"),
    (&["[pinterest/"], "Pinterest"),
    (&["linkedinapp"], "LinkedIn"),
    (&["twitter for", "twitterandroid"], "X"),
    (&["telegram-android"], "Telegram"),
    (&["kakaotalk"], "KakaoTalk"),
    (&["naver("], "Naver"),
    (&["reddit/"], "Reddit"),
    (&["discord/"], "Discord"),
    (&["slack/", "slack_ssb"], "Slack"),
    (&[" gsa/"], "Google App"),
    (&[" edg/", " edga/", " edgios/", " edge/", " edgw/"], "Edge"),
    (&["opera", " opr/", " opios/", " opt/", " opx/", " oprgx/"], "Opera"),
    (&["oculusbrowser"], "Meta Quest Browser"),
    (&["samsungbrowser"], "Samsung Internet"),
    (&["ucbrowser", "ucweb/", "ubrowser/", "uc browser"], "UC Browser"),
    (&["vivaldi/"], "Vivaldi"),
    (&["yabrowser/", "yasearchbrowser", "yaapp_"], "Yandex"),
    (&["duckduckgo/", " ddg/"], "DuckDuckGo"),
    (&[" brave/"], "Brave"),
    (&["miuibrowser/"], "MIUI Browser"),
    (&["huaweibrowser/"], "Huawei Browser"),
    (&["heytapbrowser/"], "HeyTap Browser"),
    (&["vivobrowser/"], "Vivo Browser"),
    (&["qqbrowser/", " qq/"], "QQ Browser"),
    (&["baiduboxapp", "bidubrowser", "baidubrowser"], "Baidu"),
    (&["whale/"], "Whale"),
    (&["coc_coc_browser/"], "Coc Coc"),
    (&["silk/", "silk-accelerated"], "Silk"),
    (&["seamonkey/"], "SeaMonkey"),
    (&["firefox/", "fxios/", " focus/", " klar/"], "Firefox"),
    (&["msie", "trident/", "iemobile"], "Internet Explorer"),
    (&["; wv)"], "Android WebView"),
    (&["chrome/", "crios/", "chromium/", "crmo/"], "Chrome"),
    (&["android"], "Android Browser"),
    (&["safari/"], "Safari"),
    (&["iphone", "ipad", "ipod"], "iOS WebView"),
];
