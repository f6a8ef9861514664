"""Tokens that issuers mark: each begins with letters that nothing else begins with.

Nothing mandatory follows a repetition without an upper bound here: that keeps the search linear in the text.
"""

_REST = r"(?:{any}{{16,}}|(?=[A-Za-z_-]{{0,12}}[0-9]){any}{{10,}})"
"""A long rest, or a shorter one with a digit: `sk-learn-models` is none."""
_ALNUM = _REST.format(any="[A-Za-z0-9]")
_WORD = _REST.format(any=r"[\w-]")
_UNDERSCORED = _REST.format(any=r"\w")
_WITH_DIGIT = r"(?=[A-Za-z]{0,12}[0-9])[A-Za-z0-9]{10,}"

PREFIXED = (
    r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{12,}",  # AWS
    r"AGE-SECRET-KEY-1[A-Z0-9]{20,}",
    r"AIza[\w-]{20,}",  # Google
    r"GOCSPX-[\w-]{16,}",
    r"ya29\.[\w-]{16,}",
    r"1//0[\w-]{20,}",
    rf"am_{_WITH_DIGIT}",
    r"ATATT3[\w=-]{16,}",  # Atlassian
    rf"b(?:b_live|brv|kua|rv)_{_ALNUM}",  # Browserbase, Buildkite, ByteRover
    rf"CCIPAT_{_UNDERSCORED}",  # CircleCI
    rf"CFPAT-{_WORD}",  # Contentful
    r"compozy_claim_[\w-]+",
    r"cpz_gw[a-z]?_[\w-]+",  # gateway devices and pairings
    r"dapi[0-9a-f]{32}",  # Databricks
    rf"dckr_[op]at_{_WORD}",  # Docker
    r"do[opr]_v1_[0-9A-Za-z]{16,}",  # DigitalOcean
    r"dp\.(?:pt|st|ct|sa)\.[\w-]{16,}",  # Doppler
    r"dt0[a-z]\d\d\.[A-Z0-9]{20,}[\w.]*",  # Dynatrace
    r"EAA[A-Z][A-Za-z0-9]{20,}",  # Meta, Square
    rf"exa_{_WITH_DIGIT}",
    rf"fal_{_WORD}",
    rf"fc-{_WITH_DIGIT}",  # Firecrawl
    rf"figd_{_WORD}",
    r"fpk_[A-Za-z0-9]{30,}",
    r"fw[_-][A-Za-z0-9]{24,}",  # Fireworks
    r"gAAAA[\w=-]{20,}",  # Fernet
    rf"gh[oprsu]_{_ALNUM}",  # GitHub
    rf"github_pat_{_UNDERSCORED}",
    rf"gl(?:pat|dt|ptt|rt|ft|soat|oas|cbt|imt|agent)-{_WORD}",  # GitLab
    rf"gl(?:sa|c)_{_WORD}",  # Grafana
    rf"gsk_{_ALNUM}",  # Groq
    rf"hf_{_ALNUM}",  # Hugging Face
    rf"hsk-{_ALNUM}",
    r"hv[bsr]\.[\w-]{16,}",  # HashiCorp Vault
    rf"lin_(?:api|oauth)_{_ALNUM}",  # Linear
    rf"lsv2_(?:pt|sk)_{_UNDERSCORED}",  # LangSmith
    rf"mem0_{_WITH_DIGIT}",
    rf"nfp_{_ALNUM}",  # Netlify
    rf"npm_{_ALNUM}",
    r"NRAK-[A-Z0-9]{16,}",  # New Relic
    rf"ntn_{_ALNUM}",  # Notion
    r"secret_[A-Za-z0-9]{40,}",
    rf"nvapi-{_WORD}",
    r"oy2[a-z0-9]{43}",  # NuGet
    r"ops_eyJ[\w-]{16,}",  # 1Password
    r"PMAK-[\w-]{20,}",  # Postman
    rf"pplx-{_ALNUM}",
    rf"pscale_(?:tkn|pw|oauth)_{_WORD}",  # PlanetScale
    r"pul-[0-9a-f]{32,}",  # Pulumi
    rf"pypi-{_WORD}",
    rf"r8_{_ALNUM}",  # Replicate
    rf"retaindb_{_ALNUM}",
    r"rubygems_[0-9a-f]{32,}",
    rf"s[bg]p_{_UNDERSCORED}",  # Supabase, Sourcegraph
    r"SG\.[\w-]{10,64}(?:\.[\w-]*)?",  # SendGrid
    rf"shp(?:at|ca|pa|ss)_{_ALNUM}",  # Shopify
    r"SK[0-9a-f]{32}",  # Twilio
    rf"sk-{_WORD}",  # OpenAI, Anthropic and those who copy them
    rf"[prs]k_(?:live|test)_{_ALNUM}",  # Stripe
    rf"sk_{_WITH_DIGIT}",
    r"sntry[su]_[\w=+/-]{16,}",  # Sentry
    r"sq0[a-z]{3}-[\w-]{16,}",  # Square
    rf"syt_{_UNDERSCORED}",  # Matrix
    rf"tskey-{_WORD}",  # Tailscale
    rf"tvly-{_WORD}",  # Tavily
    r"whsec_[\w+/=-]{16,}",  # webhooks
    rf"xai-{_WORD}",
    r"xapp-[\w-]{10,}",  # Slack
    r"xox[a-z](?:\.xox[a-z])?-[\w-]{10,}",
    r"xkeysib-[\w-]{16,}",  # Brevo
    r"\d{8,10}:AA[\w-]{30,}",  # Telegram
    r"[\w-]{14}\.atlasv1\.[\w-]{16,}",  # Terraform Cloud
    r"eyJ[\w-]{8,}[\w.-]*",  # JSON Web Tokens, and other JSON in base64
)
"""Regular expressions, each of a whole token. A token stands at the beginning of a word."""
