/**
 * What secrets look like. Every pattern has bounds, so that no text makes one slow, and `dg`: what
 * is hidden is the group `secret`, or all of it where there is none.
 */

export interface Rule {
  readonly kind: string
  readonly pattern: RegExp
  /** What has the shape without being a secret. */
  readonly isHarmless?: (secret: string) => boolean
}

/** The issuer has given each a prefix so that it can be found. */
export const TOKENS: readonly Rule[] = [
  token('AWS key', /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/dg),
  token('GitHub token', /\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{30,255})/dg),
  token('GitLab token', /\bgl(?:pat|dt|rt|ptt|cbt|soat|ft)-[A-Za-z0-9_.-]{20,300}/dg),
  token('Slack token', /\bx(?:ox[abeoprs]|app)-[A-Za-z0-9-]{10,255}/dg),
  token('Slack webhook', /hooks\.slack\.com\/(?:services|workflows)\/(?<secret>[\w/+-]{20,255})/dg),
  token(
    'Discord webhook',
    /discord(?:app)?\.com\/api\/webhooks\/(?<secret>\d{5,30}\/[\w-]{20,255})/dg,
  ),
  token('Stripe key', /\b(?:[srp]k_(?:live|test)|whsec)_[A-Za-z0-9+/=]{10,255}/dg),
  token('Google key', /\bAIza[\w-]{35}|\bya29\.[\w-]{20,500}|\bGOCSPX-[\w-]{20,60}/dg),
  token('AI provider key', /\bsk-(?:ant-|proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{20,255}/dg),
  token('npm token', /\bnpm_[A-Za-z0-9]{30,60}/dg),
  token('PyPI token', /\bpypi-[A-Za-z0-9_-]{30,500}/dg),
  token('SendGrid key', /\bSG\.[\w-]{16,64}\.[\w-]{16,64}/dg),
  token('Twilio key', /\bSK[0-9a-f]{32}\b/dg),
  token('Mailgun key', /\bkey-[0-9a-f]{32}\b/dg),
  token('Hugging Face token', /\bhf_[A-Za-z0-9]{30,60}/dg),
  token('Vault token', /\bhv[sbr]\.[\w-]{20,300}/dg),
  token('DigitalOcean token', /\bdo[opr]_v1_[0-9a-f]{60,70}/dg),
  token('Shopify token', /\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{30,40}/dg),
  token('Databricks token', /\bdapi[0-9a-f]{32}\b/dg),
  token('Doppler token', /\bdp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{30,120}/dg),
  token('Linear key', /\blin_(?:api|oauth)_[A-Za-z0-9]{30,80}/dg),
  token('Atlassian token', /\bATATT3[\w=-]{50,400}/dg),
  token('Square token', /\b(?:sq0(?:atp|csp|idp)-[\w-]{20,60}|EAAA[\w-]{55,80})/dg),
  token('Telegram bot token', /\b\d{8,10}:AA[\w-]{33}\b/dg),
  token('age key', /\bAGE-SECRET-KEY-1[A-Z0-9]{50,70}/dg),
  token('key of this service', /\bs(?:ak|cs)_[\w-]{40,60}/dg),
  token('JWT', /\beyJ[\w-]{8,4096}\.[\w-]{2,8192}(?:\.[\w-]{0,8192}){1,3}/dg),
]

const INTERPOLATED =
  /^(?:\$\{[\w.[\]'\"() ]*\}|\$\([^)]*\)|\$\w+|\{\{?[^}]*\}?\}|<[^>]*>|%\(?\w*\)?s|%\w+%|\*+|x{3,}|\.{3}|…)$/i

/** `"jsonwebtoken": "^9.0.2"`. */
const VERSION = /^[~^<>=v]{0,2} ?\d{1,5}(?:\.(?:\d{1,5}|x|\*)){1,2}(?:-[\w.]{1,30})?$/

/** Filled in when the program runs, or left for a person to fill in. */
function isPlaceholder(value: string): boolean {
  const bare = value.trim().replace(/,$/, '')
  if (INTERPOLATED.test(bare) || VERSION.test(bare)) return true
  return /^(?:true|false|null|nil|none|undefined|yes|no|on|off|\d{1,3}|required|optional|)$/i.test(
    bare,
  )
}

/** In addresses and in headers. */
export const CREDENTIALS: readonly Rule[] = [
  {
    kind: 'password in an address',
    // a port and a path behind the colon are no password
    pattern:
      /\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s:/@"'`]{0,200}:(?!\d{1,5}[/?#])(?<secret>[^\s"'`/]{1,500})@/dgi,
    isHarmless: isPlaceholder,
  },
  {
    kind: 'secret in a query',
    pattern:
      /[?&](?:[\w.-]{0,40}(?:key|token|secret|password|passwd|signature|sig|auth))=(?<secret>[^\s&#"'`<>$`{}]{6,2000})/dgi,
    isHarmless: isPlaceholder,
  },
  {
    kind: 'secret of a connection',
    pattern:
      /(?<=[;"'`]\s?)(?:password|pwd|accountkey|sharedaccesskey|sharedaccesssignature|accesskey|client[ _]?secret)\s?=\s?(?<secret>[^\s;"'`<>]{1,500})(?=;|["'`])/dgi,
    isHarmless: isPlaceholder,
  },
  {
    kind: 'credentials of a header',
    pattern: /\b(?:Bearer|Basic|Token)\s(?<secret>[A-Za-z0-9._~+/-]{12,4096}={0,2})/dg,
    isHarmless: (value) => !/\d/.test(value) && !/[A-Z].*[a-z]|[a-z].*[A-Z]/.test(value),
  },
]

const QUOTED =
  String.raw`(?<quote>["'` +
  '`' +
  String.raw`])(?<secret>(?:\\.|(?!\k<quote>)[^\\\r\n]){1,2000})\k<quote>`

const WORD = /^(?:string|number|boolean|object|function|undefined|symbol|)$/

/** Functions whose argument is a secret, whatever it is called. */
export const CALLS: readonly Rule[] = [
  {
    // bcrypt, argon2, scrypt, PBKDF2: guessed at leisure by whoever has it
    kind: 'hash of a password',
    pattern:
      /\$(?:2[abxy]?|argon2(?:id?|d)|scrypt|pbkdf2[\w-]{0,20}|[156y])\$[\w./,=+$-]{20,200}|\bpbkdf2[:_]sha\d{1,3}[:$][\w./:=+$-]{20,200}/dg,
  },
  {
    kind: 'default of a secret',
    // ${JWT_SECRET:dev}: Spring, shells and compose files
    pattern: /\$\{[\w.-]{1,80}:[-=]?(?<secret>(?![-?])[^\s{}"'`]{1,500})\}/dg,
    isHarmless: (value) =>
      isPlaceholder(value) || /^(?:localhost|\w{1,10}:\/\/[^:@]*|\/.*)$/.test(value),
  },
  {
    kind: 'text in three quotes',
    pattern:
      /(?:pass(?:word|wd|phrase)?|secret|token|key)\w{0,20}["']?\]?\s{0,20}[=:]\s{0,20}[rbuf]?(?<triple>\"\"\"|''')(?<secret>(?:(?!\k<triple>)[\s\S]){1,4000})\k<triple>/dgi,
  },
  call(
    String.raw`\b(?:jwt|jsonwebtoken|JWT|jose|jws)\.(?:sign|verify|encode|decode)\s?\(\s{0,40}(?:\{(?:[^{}]|\{[^{}]{0,200}\}){0,600}\}|[\w.]{1,80}),\s{0,40}`,
  ),
  call(
    String.raw`\b(?:scryptSync|scrypt|pbkdf2Sync|pbkdf2|deriveKey|SymmetricSecurityKey|NewCookieStore|NewFilesystemStore|SignedString|Fernet)\s?\(\s{0,20}(?:new\s)?(?:\[\]byte\(|(?:[\w.]{1,60}\.)?GetBytes\(|b(?=["']))?`,
  ),
  call(
    String.raw`\.(?:password|withPassword)\(\s{0,20}(?:[\w.]{1,60}(?:\(\))?\.encode\(\s{0,20})?`,
  ),
  call(
    String.raw`\bdefine\(\s{0,20}["']\w{0,60}(?:PASSWORD|PASS|KEY|SALT|SECRET|TOKEN)["'],\s{0,20}`,
  ),
  call(
    String.raw`\b(?:cookieParser|cookieSession|SecretKeySpec|createSecretKey|setSecret|secretOrKey|secret_key_base|hmacShaKeyFor|withSecret|HMAC256|HMAC512|setSigningKey|signWith)\s?\(\s{0,20}(?:new\s)?`,
  ),
  call(
    String.raw`\b(?:createHmac|createCipheriv|new_hmac)\s?\(\s{0,20}["'][\w-]{1,40}["'],\s{0,20}`,
  ),
  call(
    String.raw`\b(?:jwt|jsonwebtoken|JWT|jose|jws)\.(?:sign|verify|encode|decode)\s?\([^\r\n"'` +
      '`' +
      String.raw`]{1,200},\s{0,20}`,
  ),
  call(
    String.raw`\.(?:set|put)\(\s{0,20}["'](?:secret|session_secret|secretKey|jwtSecret|token|password)["'],\s{0,20}`,
  ),
]

/** A name that ends in one of these names a secret; `passwordField` and `tokenUrl` do not. */
const NAME = String.raw`(?:pass(?:word|wd|phrase|code)?|pwd|secrets?|tokens?|api[-_.]?keys?|auth[-_.]?keys?|access[-_.]?keys?|private[-_.]?keys?|secret[-_.]?keys?|signing[-_.]?keys?|encryption[-_.]?keys?|master[-_.]?keys?|session[-_.]?keys?|jwt[-_.]?keys?|hmac[-_.]?keys?|account[-_.]?keys?|cookie[-_.]?keys?|secret[-_.]?key[-_.]?base|salt|pepper|credentials?|dsn)`
const NAMED = String.raw`(?<![\w$])[\w$.-]{0,60}?${NAME}(?:[-_]?\d{1,3})?`
/** `=`, `:`, `=>`, `:=`, `||`, `??` and what TypeScript puts between; never a comparison. */
const BECOMES = String.raw`["']?\]?\s{0,20}(?::\s?\w{1,30}\s?)?(?:=>|:=|\?\?=|\|\|=|=(?![=>])|:(?!:))\s{0,20}`

const BYTES_OF = String.raw`\[\]byte\(|Buffer\.from\(|new TextEncoder\(\)\.encode\(|Encoding\.UTF8\.GetBytes\(`

export const ASSIGNMENTS: readonly Rule[] = [
  {
    // cookieSession({ keys: ['…', '…'] })
    kind: 'list of secrets',
    pattern:
      /\b(?:cookieSession|cookie-session|Keygrip|Cookies)\b[^;]{0,300}?\bkeys\s{0,5}:\s{0,5}\[(?<secret>[^\][{}()]{3,2000})\]/dg,
    isHarmless: (list) => !/["'`]/.test(list),
  },
  {
    // users: { admin: '…' }
    kind: 'password of a user',
    pattern:
      /\busers["']?\s{0,5}[:=]\s{0,5}\{\s{0,20}["']?[\w.@-]{1,60}["']?\s{0,5}:\s{0,5}(["'`])(?<secret>[^"'`\r\n]{1,500})\1/dg,
  },
  rule(
    'value of a secret',
    `(?:secretOrKey|"jwt"\\s?:\\s?\\{\\s?"key")["']?\\s{0,5}:\\s{0,5}${QUOTED}`,
  ),
  // req.body.password === '…'
  rule(
    'secret to compare with',
    String.raw`\b[\w$.]{0,60}?(?:pass(?:word|wd|phrase)?|secret|api_?key)["']?\]?\s{0,5}(?:===?|!==?|\.equals\()\s{0,5}${QUOTED}`,
    (value) => WORD.test(value) || isProse(value),
  ),
  // secret = env.S ? env.S : '…', encode(env.S ?? '…')
  rule(
    'default of a secret',
    String.raw`${NAMED}["']?\s{0,5}[:=][^'"\r\n` +
      '`' +
      String.raw`;]{1,200}(?:\?\?|\|\||\s:)\s{0,5}${QUOTED}`,
  ),
  {
    // localhost:6379,password=…,ssl=True
    kind: 'secret of a connection',
    pattern: /[,;]\s?(?:password|pwd)=(?<secret>[^\s,;"'`<>]{1,500})/dgi,
    isHarmless: isPlaceholder,
  },
  // app.keys = ['…', '…'], secret: ['…', '…']
  rule(
    'list of secrets',
    String.raw`(?:\b[\w$.-]{0,40}?${NAME}|\.keys)["']?\s{0,20}(?:=|:)\s{0,20}(?:\w+\()?\[(?<secret>[^\][{}()]{3,2000})\]`,
    (list) => !/["'`]/.test(list),
  ),
  rule('value of a secret', `${NAMED}${BECOMES}(?:[rbuf]|@|\\$|${BYTES_OF})?${QUOTED}`),
  // env.SESSION_SECRET || 'keyboard cat'
  rule(
    'default of a secret',
    String.raw`${NAMED}["']?\]?\)?\s{0,20}(?:\|\||\?\?|\?:|\bor\b)\s{0,20}${QUOTED}`,
  ),
  // os.environ.get('SECRET_KEY', 'dev'), env('APP_KEY', 'dev'), ENV.fetch('TOKEN', 'dev')
  rule(
    'default of a secret',
    String.raw`\b(?:get_?env|env|environ\.get|ENV\.fetch|config|config\.get|getOrDefault|getProperty)\(\s{0,20}["'][\w.-]{0,60}?(?:${NAME}|app_key)["'],\s{0,20}${QUOTED}`,
  ),
  rule('element of a secret', String.raw`<[\w.:-]{0,60}?${NAME}>(?<secret>[^<>\r\n]{1,2000})</`),
  rule(
    'attribute of a secret',
    String.raw`\b(?:key|name)\s?=\s?["'][\w.:-]{0,60}?${NAME}["']\s{1,10}value\s?=\s?${QUOTED}`,
  ),
]

/** Lines of settings: `DB_PASSWORD=hunter2`, `secret: abc`. Only where such a line is no code. */
export const CONFIGURATION: readonly Rule[] = [
  // jwt: { secret: x, ttl: 3 }
  rule(
    'value of a secret',
    String.raw`[{,][ \t]*["']?[\w.-]{0,60}?${NAME}["']?[ \t]*:[ \t]*(?<secret>[^\s"'#{}[\],][^\r\n,{}]{0,500}?)[ \t]*(?=[,}])`,
    isPlaceholder,
  ),
  {
    // the lines below `secret: >`, `passwords:`, and `key:` of a `jwt:`
    kind: 'block of a secret',
    pattern: new RegExp(
      String.raw`^(?<indent>[ \t]{0,40})["']?[\w.-]{0,60}?(?:${NAME}|passwords|(?<=^[ \t]{1,40})key)["']?:[ \t]*[|>][-+\d]{0,3}[ \t]*\r?\n(?<secret>(?:\k<indent>[ \t]+[^\r\n]{1,2000}\r?\n?|\r?\n){1,100})`,
      'dgim',
    ),
  },
  {
    kind: 'list of secrets',
    pattern: new RegExp(
      String.raw`^(?<indent>[ \t]{0,40})["']?[\w.-]{0,60}?(?:${NAME}|passwords)["']?:[ \t]*\r?\n(?<secret>(?:\k<indent>[ \t]*-[ \t]+(?![\w.-]{1,60}:(?:\s|$))[^\r\n]{1,2000}\r?\n?){1,100})`,
      'dgim',
    ),
    isHarmless: (list) =>
      list.split(/\r?\n/).every((line) => isPlaceholder(line.replace(/^[ \t]*-[ \t]*/, ''))),
  },
  {
    kind: 'value of a secret',
    pattern:
      /^(?:jwt|session|cookie|encryption|signing|hmac|auth):[ \t]*\r?\n(?:[ \t]+[^\r\n]{0,200}\r?\n){0,5}?[ \t]+key:[ \t]*(?<secret>[^\s"'#{}[\]|>][^\r\n#]{0,500})/dgim,
    isHarmless: isPlaceholder,
  },
  {
    kind: 'value of a secret',
    pattern: new RegExp(
      String.raw`^[ \t]*(?:-[ \t]+)?(?:export[ \t]+|ENV[ \t]+|ARG[ \t]+)?["']?[\w.-]{0,100}?${NAME}(?:[-_]?\d{1,3})?["']?[ \t]*(?:[=:]|(?<=(?:ENV|ARG)[ \t]+\S{1,100})[ \t])[ \t]*(?<secret>[^\s"'#{}[\],][^\r\n#]{0,2000}?)[ \t]*(?:#.*)?$`,
      'dgim',
    ),
    isHarmless: (value) => isPlaceholder(value) || /^[|>][-+\d]{0,3}$/.test(value),
  },
]

/**
 * "Forgot your password?", "The token is not valid": a sentence for people. Begins with a capital
 * and has at least three words of letters; `keyboard cat` and `correct horse battery staple` do not.
 */
function isProse(value: string): boolean {
  if (isPlaceholder(value)) return true
  return /^[A-Z][\p{L}’']*(?:[ ,]+[\p{L}’'-]+){2,}[ ]?[.!?:…]?$/u.test(value)
}

function token(kind: string, pattern: RegExp): Rule {
  return { kind, pattern }
}

function rule(
  kind: string,
  source: string,
  isHarmless: NonNullable<Rule['isHarmless']> = isProse,
): Rule {
  return { kind, pattern: new RegExp(source, 'dgi'), isHarmless }
}

function call(lead: string): Rule {
  return { kind: 'secret of a call', pattern: new RegExp(lead + QUOTED, 'dg'), isHarmless: isProse }
}
