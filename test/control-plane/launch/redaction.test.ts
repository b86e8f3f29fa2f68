import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { redactor } from '../../../control-plane/launch/redaction.ts'

const KEY = 'a "key" of ours/0123'
const redacted = redactor([KEY, 'key'])

t.test('what opens something does not leave the house', async (t) => {
  for (const [line, kept] of [
    [`it was ${KEY}`, 'it was [removed]'],
    [JSON.stringify({ reason: KEY }), '{"reason":"[removed]"}'],
    [`?q=${encodeURIComponent(KEY)}`, '?q=[removed]'],
    [Buffer.from(KEY).toString('base64'), '[removed]'],
    ['service_session=eyJhbGciOi.eyJzdWIiOi.c2ln; a=b', 'service_session=[removed]; a=b'],
    ['the token eyJhbGciOi.eyJzdWIiOi.c2ln, cut off', 'the token [removed], cut off'],
    ['gateway gwk_0123456789abcdef left', 'gateway [removed] left'],
    ['keys sak_0123456789abcdef, scs_0123456789abcdef', 'keys [removed], [removed]'],
    ['Authorization: Bearer abc.def-123', 'Authorization: [removed] [removed]'],
    ['Set-Cookie: service_flow=abc; Path=/', 'Set-Cookie: [removed]'],
    ['{"cookie":"a=b; c=d","path":"/"}', '{"cookie":"[removed]","path":"/"}'],
    ['postgres://service:hunter2@db:5432/x', 'postgres://[removed]@db:5432/x'],
    ['smtps://user:p%40ss@mail.example.com', 'smtps://[removed]@mail.example.com'],
    [
      'GET /service/callback?code=abc&state=def HTTP/1.1',
      'GET /service/callback?code=[removed]&state=[removed] HTTP/1.1',
    ],
    ['password: hunter2', 'password: [removed]'],
    ['"client_secret":"hunter2","name":"a"', '"client_secret":"[removed]","name":"a"'],
    ['ada.lovelace+x@example.com signed in', '[removed]@example.com signed in'],
    ['"jürgen.maría@bücher.example"', '"[removed]@bücher.example"'],
    ['password="two words", then', 'password="[removed]", then'],
    ['"set-cookie":["__Host-service_console=abc0123; Path=/"]', '"set-cookie":[removed]'],
    [
      '{"h":["realm_acme_device=abc~def; Path=/"]}',
      '{"h":["realm_acme_device=[removed]; Path=/"]}',
    ],
    ['http://user:p@ss@proxy:3128/', 'http://[removed]@proxy:3128/'],
    [
      'POST /console/alert-emails/stop/acme.c2lnbmF0dXJl',
      'POST /console/alert-emails/stop/[removed]',
    ],
    ['-----BEGIN PRIVATE KEY-----\nMIG\n-----END PRIVATE KEY-----\nend', '[removed]\nend'],
  ] as const)
    t.equal(redacted(line), kept)
})

t.test('each secret of a form that we make is known by it', async (t) => {
  const made = globSync('control-plane/**/*.ts', { exclude: ['control-plane/downloads/**'] })
    .map((file) => readFileSync(file, 'utf8'))
    .flatMap((text) => {
      const prefixes = [
        ...text.matchAll(
          /`([a-z]+_)\$\{random(?:Bytes\([\w ]+\)\.toString\('base64url'\)|\(\))\}/g,
        ),
      ]
      const named = /PREFIX[^\n]*randomBytes\(32\)/.test(text)
        ? /^const PREFIX = '([a-z]+_)'$/m.exec(text)
        : null
      return [...prefixes, ...(named === null ? [] : [named])].map(([, prefix = '']) => prefix)
    })
  t.same([...new Set(made)].sort(), [
    'gwk_',
    'sak_',
    'scim_',
    'scs_',
    'sct_',
    'sdc_',
    'sdt_',
    'sms_',
    'whsec_',
  ])
  for (const prefix of made)
    t.equal(redacted(`it was ${prefix}0123456789abcdef`), 'it was [removed]')
})

t.test('a secret that is made of several leaves with none of them', async (t) => {
  const of = (given: string) => redactor([given])
  const smtp = of('smtps://mailer:S3cr%2Ft%40pw@mail.example.com')
  t.equal(smtp('535 S3cr/t@pw is not it'), '535 [removed] is not it')
  t.equal(smtp('535 S3cr%2Ft%40pw is not it'), '535 [removed] is not it')
  t.equal(smtp('mail.example.com is away'), 'mail.example.com is away')
  const database = of('postgres://service:hunt%20er2@one:5432,two/service')
  t.equal(database('FATAL: hunt er2'), 'FATAL: [removed]')
  const accounts = of('ca.example=kid_1:aGVsbG8taG1hYy1rZXk other.example=kid_2:c2Vjb25kLWtleQ')
  t.equal(accounts('hmac aGVsbG8taG1hYy1rZXk, c2Vjb25kLWtleQ'), 'hmac [removed], [removed]')
  t.equal(accounts('ca.example is away'), 'ca.example is away')
})

t.test('and what helps stays', async (t) => {
  for (const line of [
    '{"level":40,"tenant_id":"acme","msg":"code exchange failed","reason":"ECONNREFUSED"}',
    '"tenant_tokens_per_day": 500000,',
    'control_plane_ai_tokens_today 0',
    'http://127.0.0.1:8081 is not reachable',
    'a key and a monkey', // as short as this is no secret
  ])
    t.equal(redacted(line), line)
})
