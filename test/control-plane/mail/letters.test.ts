/** What strangers have named themselves stands in mails to others: it must be words and no more. */
import t from 'tap'
import { browserName } from '../../../control-plane/accounts/browser-name.ts'
import { mailTextsFor, plainWords } from '../../../control-plane/mail/letters.ts'
import type { MailText } from '../../../control-plane/mail/texts/english.ts'

const HOSTILE = [
  'reset.demo-security.example',
  'https://evil.example/now',
  'http://3232235777/x',
  'www.evil.example',
  'call@evil.example',
  'evil\u3002example',
  'Ada\r\nBcc: all@evil.example',
  'Ada\u202egro.live\u2066',
  'ev\u200bil.example',
]
// what a mail program makes a link of
const LINK = /\w\.\w|\S[.\u3002\uff0e\uff61]\S|:\/\/|\S@|@\S|www\.\S/
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069]/

for (const words of HOSTILE)
  t.test(`in every mail, in every language: ${JSON.stringify(words)}`, async (t) => {
    const facts = { application: words, name: words, email: words, browser: words }
    const colleague = { tenant: words, by: words }
    const more = {
      link: 'LINK',
      ip: '::1',
      at: 'now',
      what: 'totp_added',
      areBrowsersForgotten: true,
      isByOther: true,
      isLast: true,
    }
    for (const language of ['en', 'de', 'xx'])
      for (const write of Object.values(mailTextsFor(language)) as ((
        facts: object,
      ) => MailText)[]) {
        const { subject, lines } = write({ ...facts, ...colleague, ...more })
        const text = [subject, ...lines].join(' ')
        t.notMatch(text, LINK)
        t.notMatch(text, HIDDEN)
      }
  })

t.test(
  'in English, each paragraph begins with a capital; in German, the first goes on',
  async (t) => {
    const names = { application: 'Acme', tenant: 'Acme', name: 'Ada', email: 'ada', by: 'Grace' }
    const asked = { browser: 'Firefox', ip: '192.0.2.1', at: 'today', code: '1234 5678' }
    const facts = { ...names, ...asked, link: 'https://id.example/' }
    for (const [language, lowest] of [
      ['en', 0],
      ['de', 1],
    ] as const)
      for (const [mail, write] of Object.entries(mailTextsFor(language)) as [
        string,
        (facts: object) => MailText,
      ][])
        for (const isByOther of [true, false]) {
          const what = mail === 'alert' ? 'lockouts' : 'totp_added'
          const { lines } = write({
            ...facts,
            what,
            isByOther,
            isLast: true,
            areBrowsersForgotten: true,
          })
          const small = lines.filter((line) => line !== facts.link && /^[a-zäöü]/.test(line))
          t.ok(small.length <= lowest, `${language}, ${mail}: ${small.join(' … ')}`)
        }
  },
)

t.test('our own link stays as it is, and so do names that are names', async (t) => {
  const link = 'https://id.example/auth/realms/acme/account/invitation?ticket=x'
  const { lines } = mailTextsFor('en').invite({ application: 'Acme', name: 'Ada', link })
  t.ok(lines.includes(link))
  for (const name of ['Ada Lovelace', 'Søren Ö. Kierkegård', 'محمد', 'Wait ...', '田中 太郎'])
    t.equal(plainWords(name), name)
  t.equal(plainWords('J.R.R. Tolkien'), 'J. R. R. Tolkien')
})

t.test('a browser has one of our own names, or none', async (t) => {
  t.equal(browserName('Mozilla/5.0 (X11; Linux) Firefox/140'), 'Firefox, Linux')
  t.equal(browserName('curl/8.1'), 'curl')
  for (const agent of ['reset.demo-security.example', 'constructor', '__proto__', 'toString-x', ''])
    t.equal(browserName(agent), '', agent)
})
