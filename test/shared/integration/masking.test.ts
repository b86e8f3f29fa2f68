import t, { type Test } from 'tap'
import { HIDDEN, isPrivateFile, maskSecrets } from '../../../shared/integration/masking.ts'

/** What stands between ⟦ and ⟧ is the secret: it goes, and all around it stays. */
function check(t: Test, path: string, marked: string) {
  const text = marked.replaceAll(/[⟦⟧]/g, '')
  const wanted = marked.replaceAll(/⟦[^⟧]*⟧/g, HIDDEN)
  t.equal(maskSecrets(text, path).text, wanted, text.slice(0, 100))
}

/** Looks drawn at random, and is the same every time; no scanner of our own code takes it for real. */
function drawn(length: number, alphabet = 'kT9wXb4RzQ7fLm2VhJ8pNcY3sDg6'): string {
  return Array.from(
    { length },
    (_, at) => alphabet[(at * 11 + (at >> 2) * 5) % alphabet.length],
  ).join('')
}
const hex = (length: number) => drawn(length, '0a9b3c7d1e5f2846')
const upper = (length: number) => drawn(length, 'QWE4RTZ7UIO2PAS')

const PREFIXED = [
  `AKIA${upper(16)}`,
  `ghp_${drawn(36)}`,
  `github_pat_${drawn(60)}`,
  `glpat-${drawn(20)}`,
  `xoxb-${drawn(40)}`,
  `sk_live_${drawn(24)}`,
  `whsec_${drawn(32)}`,
  `AIza${drawn(35)}`,
  `GOCSPX-${drawn(28)}`,
  `sk-ant-${drawn(60)}`,
  `sk-${drawn(48)}`,
  `npm_${drawn(36)}`,
  `pypi-${drawn(80)}`,
  `SG.${drawn(22)}.${drawn(43)}`,
  `SK${hex(32)}`,
  `hf_${drawn(34)}`,
  `hvs.${drawn(90)}`,
  `dop_v1_${hex(64)}`,
  `shpat_${hex(32)}`,
  `sak_${drawn(43)}`,
  `scs_${drawn(43)}`,
  `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.${drawn(43)}`,
]

void t.test('a token with a known prefix goes, wherever it stands', async (t) => {
  for (const secret of PREFIXED) {
    check(t, 'src/app.js', `client.use("⟦${secret}⟧", true) // as told`)
    check(t, 'src/app.js', `// call it with ⟦${secret}⟧ to try`)
    check(t, 'notes', `⟦${secret}⟧`)
  }
})

const SECRETS: readonly (readonly [path: string, marked: string])[] = [
  ['app.js', "app.use(session({ secret: '⟦keyboard cat⟧', resave: false }))"],
  ['app.js', 'app.use(session({ secret: "⟦keyboard cat⟧" }))'],
  ['app.js', 'secret: `⟦keyboard cat⟧`,'],
  ['app.js', "secret: process.env.SESSION_SECRET || '⟦keyboard cat⟧',"],
  ['app.js', "const key = process.env['API_KEY'] ?? '⟦dev⟧'"],
  ['app.js', "app.keys = [⟦'im a newer secret', 'i like turtle'⟧]"],
  ['app.js', "secret: [⟦'new one', 'old one'⟧],"],
  ['app.js', "app.use(cookieParser('⟦s3cret⟧'))"],
  ['app.js', "app.set('secret', '⟦shh⟧')"],
  ['app.js', "jwt.sign({ id }, '⟦shhhhh⟧', { expiresIn: '1h' })"],
  ['app.js', "jwt.verify(token, '⟦shhhhh⟧')"],
  ['app.js', "createHmac('sha256', '⟦abc⟧')"],
  ['app.js', "headers: { Authorization: 'Bearer ⟦abcDEF0123456789⟧' }"],
  ['app.js', "'Basic ⟦YWRhOmxvdmVsYWNlMTIz⟧'"],
  ['app.ts', 'const csrfToken: string = "⟦abc123⟧"'],
  ['app.ts', "clientSecret: '⟦a\\'b⟧',"],
  ['app.js', "mongoose.connect('mongodb+srv://app:⟦hunter2⟧@cluster0.example.net/app')"],
  ['app.js', 'redis://:⟦hunter2⟧@cache:6379/0'],
  ['app.js', "fetch('https://api.example/v1?user=ada&api_key=⟦abcdef123⟧')"],
  ['app.py', "SECRET_KEY = '⟦django-insecure-#1a2b3c⟧'"],
  ['app.py', "app.config['SECRET_KEY'] = '⟦dev⟧'"],
  ['app.py', "SECRET_KEY = os.environ.get('SECRET_KEY', '⟦dev⟧')"],
  ['app.py', "'PASSWORD': '⟦hunter2⟧',"],
  ['app.rb', 'config.secret_key_base = "⟦0123abc0123abc⟧"'],
  ['app.rb', "http_basic_authenticate_with name: 'ada', password: '⟦hunter2⟧'"],
  ['app.rb', "ENV.fetch('DEVISE_PEPPER', '⟦abc⟧')"],
  ['app.php', "'password' => '⟦hunter2⟧',"],
  ['app.php', "'key' => env('APP_KEY', '⟦base64:abc⟧'),"],
  ['App.java', 'private static final String JWT_SECRET = "⟦hunter2⟧";'],
  ['App.java', 'Keys.hmacShaKeyFor("⟦hunter2⟧".getBytes())'],
  ['App.cs', 'var secretKey = "⟦hunter2⟧";'],
  ['main.go', 'sessionSecret := "⟦hunter2⟧"'],
  ['main.go', 'var jwtKey = []byte("⟦hunter2⟧")'],
  ['application.properties', 'spring.datasource.password=⟦hunter2⟧'],
  ['application.yml', '  password: ⟦hunter2⟧ # of the test'],
  ['compose.yaml', '      - DB_PASSWORD=⟦hunter2 and more⟧'],
  ['compose.yaml', '      POSTGRES_PASSWORD: "⟦hunter2⟧"'],
  ['Dockerfile', 'ENV SESSION_SECRET ⟦hunter2⟧'],
  ['.env.example', 'export API_TOKEN=⟦hunter2⟧'],
  ['start.sh', 'export API_TOKEN=⟦hunter2⟧'],
  ['appsettings.json', '"Default": "Server=db;User Id=sa;Password=⟦Hunter2!⟧;Encrypt=true"'],
  ['appsettings.json', '"Jwt": { "Key": "⟦ThisIsMySecretKey12345⟧" }'],
  ['web.config', '<add key="ApiSecret" value="⟦abc⟧" />'],
  ['settings.xml', '<password>⟦hunter2⟧</password>'],
  ['app.js', `const k = '⟦${drawn(32)}⟧'`],
  ['app.js', `const k = '⟦${hex(64)}⟧'`],
  ['app.js', 'const k = "⟦Zm9vYmFyMTIzNDU2Nzg5MHF3ZXJ0eXVpb3A=⟧"'],
]

void t.test('a secret is found by its name, its call or its looks', async (t) => {
  for (const [path, marked] of SECRETS) check(t, path, marked)
})

/** What a review found that went out as it was. */
const ONCE_MISSED: readonly (readonly [path: string, marked: string])[] = [
  ['app.js', "new JwtStrategy({ jwtFromRequest: x, secretOrKey: '⟦my-jwt⟧' }, cb)"],
  ['app.js', "cookieSession({ name: 's', keys: [⟦'key-one-1', 'key-two-1'⟧] })"],
  ['app.js', "jwt.sign(\n  { id: user.id },\n  '⟦multi-line-1⟧',\n  { expiresIn: '1h' },\n)"],
  ['app.js', "const secret = process.env.S ? process.env.S : '⟦tern-1⟧'"],
  ['app.js', "const secret = new TextEncoder().encode(process.env.S ?? '⟦enc-1⟧')"],
  ['app.js', "if (req.body.password === '⟦backdoor-1⟧') ok()"],
  ['app.js', "basicAuth({ users: { admin: '⟦supersecret1⟧' } })"],
  ['app.js', "crypto.scryptSync('⟦scrypt-pw-1⟧', salt, 32)"],
  ['app.js', "const HASH = '⟦$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy⟧'"],
  ['app.py', 'PASSWORD = """⟦\ntriple-1\n⟧"""'],
  ['app.php', "define('DB_PASSWORD', '⟦wp-pass-1⟧');"],
  ['app.php', "define('AUTH_KEY', '⟦wp-key-1⟧');"],
  ['A.java', 'auth.withUser("admin").password("⟦{noop}inmem-1⟧")'],
  ['A.java', '.password(encoder.encode("⟦inmem-2⟧"))'],
  ['A.java', '@Value("${jwt.secret:⟦java-default-1⟧}")'],
  ['A.cs', 'new SymmetricSecurityKey(Encoding.UTF8.GetBytes("⟦cs-key-1⟧"))'],
  ['a.go', 'token.SignedString([]byte("⟦go-key-2⟧"))'],
  ['a.go', 'sessions.NewCookieStore([]byte("⟦go-store-1⟧"))'],
  ['a.yml', 'jwt:\n  secret: ${JWT_SECRET:⟦yaml-default-1⟧}'],
  ['a.yml', 'jwt: { secret: ⟦flow-1⟧, ttl: 3 }'],
  ['a.yml', 'jwt:\n  key: ⟦jwt-key-plain⟧'],
  ['a.yml', 'jwt:\n  secret: >\n⟦    folded-1\n⟧  ttl: 3'],
  ['a.yml', 'passwords:\n⟦  - listpw1\n  - listpw2\n⟧name: x'],
  ['a.properties', 'jwt.secret=${JWT:⟦sp-default-2⟧}'],
  ['appsettings.json', '"Jwt":{"Key":"⟦jwtkey-plain⟧","Issuer":"x"}'],
  ['appsettings.json', '"Redis":"localhost:6379,password=⟦redispw-1⟧,ssl=True"'],
]

void t.test('a default, a list, a block and a comparison hide nothing', async (t) => {
  for (const [path, marked] of ONCE_MISSED) checkGone(t, path, marked)
})

/** As `check`; of lines that go, the line ends stay. */
function checkGone(t: Test, path: string, marked: string) {
  const { text } = maskSecrets(marked.replaceAll(/[⟦⟧]/g, ''), path)
  for (const [, secret = ''] of marked.matchAll(/⟦([^⟧]*)⟧/g))
    for (const word of secret.match(/[\w$./-]{4,}/g) ?? [])
      t.notOk(text.includes(word), `${word}: ${text}`)
  const lines = (of: string) => of.split('\n').length
  t.equal(lines(text), lines(marked), 'every line stays where it is')
  const [front = ''] = marked.split('⟦')
  t.ok(text.startsWith(front), `${text} begins as it did`)
}

const HARMLESS: readonly (readonly [path: string, text: string])[] = [
  ['app.js', 'password: req.body.password,'],
  ['app.js', "jwt.sign(\n  { id: 'a' },\n  secret,\n)\nres.render('index')"],
  ['app.js', "if (token === '' || password === 'string') {"],
  ['app.js', "cors({ keys: ['x'] }, users: { admin: true })"],
  ['a.yml', 'jwt:\n  issuer: shop'],
  ['app.js', "new LocalStrategy({ usernameField: 'email', passwordField: 'pass' }, check)"],
  ['app.js', "const token = req.headers['authorization']"],
  ['app.js', 'secret: process.env.SESSION_SECRET,'],
  ['app.js', 'secret: `${process.env.SESSION_SECRET}`,'],
  ['app.js', "if (token === 'abc' || token == 'none') {"],
  ['app.js', "password: 'Password is required.',"],
  ['app.js', "{ error: 'Invalid token' }"],
  ['app.js', "app.post('/reset-password', 'x')"],
  ['app.js', "app.get('/token', handler)"],
  ['app.js', "tokenUrl: 'https://issuer.example/token',"],
  ['app.js', 'res.json({ token: jwt.sign(user, secret) })'],
  ['app.js', 'jwt.verify(token, process.env.JWT_SECRET)'],
  ['app.js', "import { requireAuthentication2 } from './middleware/requireAuthentication2'"],
  ['app.js', "const { verifyAccessTokenFromRequestHeaders2 } = require('./lib')"],
  ['app.js', "passport.authenticate('local', { failureRedirect: '/login' })"],
  ['app.js', 'app.use(service.express()) // before everything else'],
  ['app.js', "fetch('http://localhost:3000/@scope/pkg')"],
  ['app.js', "const id = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'"],
  ['app.js', "'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'"],
  ['app.js', "import page from './components/pages/UserProfile2/EditPage'"],
  ['app.html', '<input type="password" name="password" placeholder="Password">'],
  ['app.html', `<script integrity="sha384-${drawn(64)}" src="x.js"></script>`],
  ['app.py', 'password = request.form["password"]'],
  ['app.py', "SECRET_KEY = os.environ['SECRET_KEY']"],
  ['app.py', "'NAME': 'django.contrib.auth.password_validation.MinimumLengthValidator',"],
  ['app.rb', 'params.require(:user).permit(:email, :password)'],
  ['app.rb', "secret_key_base: <%= ENV['SECRET_KEY_BASE'] %>"],
  ['App.java', '.passwordEncoder(passwordEncoder())'],
  ['App.java', '@Value("${jwt.secret}") String secret'],
  ['main.go', 'token := r.Header.Get("Authorization")'],
  ['compose.yaml', '      POSTGRES_PASSWORD: ${POSTGRES_PASSWORD}'],
  ['compose.yaml', 'secrets:'],
  ['package.json', '"jsonwebtoken": "^9.0.2",'],
  ['package.json', '"express-session": "^1.18.0"'],
  ['package.json', `"integrity": "sha512-${drawn(86)}=="`],
  ['.env.example', 'API_TOKEN='],
]

void t.test('code that only speaks of secrets stays as it is', async (t) => {
  for (const [path, text] of HARMLESS) check(t, path, text)
})

void t.test('a private key goes whole, and every line stays where it was', async (t) => {
  const body = `${drawn(64)}\n${drawn(64)}\r\n${drawn(20)}==\n`
  for (const name of [
    'RSA PRIVATE KEY',
    'PRIVATE KEY',
    'EC PRIVATE KEY',
    'OPENSSH PRIVATE KEY',
    'PGP PRIVATE KEY BLOCK',
  ]) {
    const text = `before\n-----BEGIN ${name}-----\n${body}-----END ${name}-----\nafter`
    const { text: masked, hidden } = maskSecrets(text, 'app.js')
    t.notMatch(masked, drawn(12))
    t.equal(masked.split('\n').length, text.split('\n').length)
    t.equal(masked.split('\n').at(-1), 'after')
    t.match(hidden, [{ line: 2, kind: 'private key' }])
    const inOneLine = `const key = "-----BEGIN ${name}-----\\n${drawn(64)}\\n-----END ${name}-----\\n"`
    t.notMatch(maskSecrets(inOneLine, 'app.js').text, drawn(12), 'in one line')
    t.notMatch(maskSecrets(`-----BEGIN ${name}-----\n${body}`, 'x').text, drawn(12), 'cut off')
  }
  const open = '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----'
  t.equal(maskSecrets(open, 'x').text, open, 'a public key is public')
})

void t.test('what was masked once stays as it is, and lines are told', async (t) => {
  const text = SECRETS.map(([, marked]) => marked.replaceAll(/[⟦⟧]/g, '')).join('\n')
  const once = maskSecrets(text, 'app.js')
  t.strictSame(maskSecrets(once.text, 'app.js'), { text: once.text, hidden: [] })
  t.equal(once.text.split('\n').length, text.split('\n').length)
  const { hidden } = maskSecrets("a\r\nb\r\nsecret: 'x'\r\n", 'app.js')
  t.strictSame(hidden, [{ line: 3, kind: 'value of a secret' }])
})

/** What takes the square of such a length does not come to its end before this file has to. */
void t.test('no text makes it slow', async (t) => {
  for (const piece of [
    '-----BEGIN PRIVATE KEY-----',
    'password',
    'secret: "',
    'a'.repeat(50) + '.',
    'http://a:',
    '?key=',
    'eyJaaaaaaaa.',
    'Password=',
    '\\',
    'x = [',
    "env('",
    ' ',
    '<token>',
    'jwt.sign(',
  ])
    t.doesNotThrow(() => maskSecrets(piece.repeat(Math.ceil(400_000 / piece.length)), 'settings'))
})

void t.test('files of secrets are known by their names', async (t) => {
  for (const path of [
    '.env',
    '.env.production',
    'config/.env.local',
    'server.pem',
    'certs/tls.key',
    'id_rsa',
    '.ssh/id_ed25519',
    'A.P12',
    '.npmrc',
    '.netrc',
    'config/master.key',
    'credentials.json',
    'secrets.yml',
    'service-account-prod.json',
    'terraform.tfstate',
    'prod.tfvars',
    'db.sqlite3',
    'a\\b\\.env',
    '.git-credentials',
    'keys/app.jks',
  ])
    t.ok(isPrivateFile(path), path)
  for (const path of [
    '.env~',
    '.env_prod',
    '.env-prod',
    'production.env.local',
    '.envrc.local',
    'wp-config.php',
    'app/local_settings.py',
    'shop-firebase-adminsdk-abc.json',
    'gcp-key.json',
    'key.json',
    'id_rsa.bak',
    'server.key.old',
    '.vault-token',
    '.docker/config.json',
    '.aws/config',
    'config/credentials.yml.enc',
  ])
    t.ok(isPrivateFile(path), path)
  for (const path of [
    '.env.example',
    'env.ts',
    'src/env.js',
    'src/monkey.json',
    'src/app.js',
    'src/keys.ts',
    'environment.ts',
    'config/secrets.example.yml',
    'monkey.js',
    'src/id_rsa.test.js',
    'tokens.py',
    'application.yml',
    'package.json',
  ])
    t.notOk(isPrivateFile(path), path)
})
