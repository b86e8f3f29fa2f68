/** The attack: a name that reads as another one, since marks that nobody sees turn the text around. */
import t from 'tap'
import { isEmailAddress } from '../../control-plane/accounts/email-address.ts'
import { readRow } from '../../control-plane/user-directory/person.ts'
import { letter } from '../../control-plane/mail/letters.ts'
import { startApi } from '../support/api.ts'

const MARKS = [
  ...['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'],
  ...['\u200e', '\u200f', '\u061c', '\u200b', '\u2060', '\ufeff', '\u00ad', '\u2028', '\u0085'],
]
const FINE = [
  'עדה לאבלייס',
  'آدا لاولیس',
  'می\u200cخواهم',
  '👩\u200d💻 Ada',
  'Zoë',
  'श\u094d\u200dर',
]

const shown = (mark: string) => `U+${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`

t.test('names with unseen marks are refused wherever they are given', async (t) => {
  const { operator, tenant } = await startApi(t)
  await tenant('acme')
  const hooks = { url: 'https://hooks.example/', events: ['session.revoked'] }
  const person = {
    username: 'ada',
    email: 'ada@acme.test',
    name: 'Ada',
    password: 'long enough 1!',
  }
  for (const mark of MARKS) {
    const name = `Ada${mark}gnp.exe`
    const wishes = [
      ['PATCH', '/tenants/acme', { name }, 'name'],
      ['POST', '/tenants/acme/users', { ...person, name }, 'name'],
      ['POST', '/tenants/acme/users', { ...person, username: name }, 'username'],
      ['POST', '/tenants/acme/users', { ...person, email: `a${mark}b@acme.test` }, 'email'],
      ['POST', '/tenants/acme/webhooks', { ...hooks, description: name }, 'description'],
    ] as const
    for (const [method, path, body, field] of wishes)
      t.match(
        await operator(method, path, body),
        { status: 400, body: { error: 'field_invalid', field } },
        `${shown(mark)} in ${field}`,
      )
  }
  for (const name of FINE)
    t.match(await operator('PATCH', '/tenants/acme', { name }), { status: 200, body: { name } })
})

t.test('of a directory, marks leave a name, and no login has any', async (t) => {
  const columns = { id: 'i', username: 'u', email: 'e', name: 'n', password_hash: 'h' }
  for (const mark of MARKS) {
    t.match(readRow(['7', 'ada', 'ada@acme.test', `Ada${mark}x`, ''], columns), {
      person: { name: 'Adax' },
    })
    t.match(readRow(['7', `a${mark}da`, 'ada@acme.test', 'Ada', ''], columns), {
      person: { role: 'username' },
    })
    t.notOk(isEmailAddress(`a${mark}da@acme.test`), shown(mark))
  }
})

t.test('no mail is turned around by a name that was kept before', async (t) => {
  for (const mark of MARKS) {
    const { subject, text } = letter('ada@acme.test', {
      subject: `Hello ${mark}Ada`,
      lines: [`Dear ${mark}Ada,`],
    })
    t.notMatch(subject + text, mark, shown(mark))
  }
})
