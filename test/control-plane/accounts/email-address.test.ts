import t from 'tap'
import { isEmailAddress } from '../../../control-plane/accounts/email-address.ts'
import { LIMITS } from '../../../shared/limits.ts'

t.test('an e-mail address is what a mail can be sent to, up to its limit', async (t) => {
  const longest = `${'m'.repeat(LIMITS.emailCharactersMax - '@x.test'.length)}@x.test`
  for (const text of [
    'a@b',
    'ada+x@acme.example',
    "o'brien@acme.example",
    'ä@ö.example',
    'a@1.b',
    longest,
  ])
    t.ok(isEmailAddress(text), text)
  for (const text of [
    ...[
      '',
      '@',
      'a',
      'a@',
      '@b',
      'a@b@c',
      'a b@c',
      ' a@b',
      'a@b ',
      'a@b\n',
      'a\u0000@b',
      '\ud800@b',
    ],
    ...['<a@b>', 'a@b, c@d', '"a"@b', 'a(x)@b', 'a:b@c', 'a;b@c', 'a\\b@c', 'a@[10.0.0.1]:25'],
    ...['a@[10.0.0.1]', 'a@[IPv6', 'a@10.0.0.1', 'a@1', 'a@b.'],
    `m${longest}`,
  ])
    t.notOk(isEmailAddress(text), JSON.stringify(text).slice(0, 40))
})
