import t from 'tap'
import { createApp } from '../../../control-plane/app.ts'
import { mailboxKey } from '../../../control-plane/config.ts'
import { OPERATOR_KEY } from '../../support/api.ts'
import { startServices } from '../../support/control-plane.ts'
import { createLiveKey } from '../../../control-plane/keys/live-key.ts'

void t.test('the mailbox opens with its password only, and shows text as text', async (t) => {
  const services = await startServices(t)
  const mail = {
    to: 'ada@example.test',
    subject: 'Hello <b>',
    at: 0,
    text: 'https://id.example/?ticket=s3cret',
  }
  const mailbox = { send: async () => {}, close: () => undefined, list: async () => [mail] }
  const app = createApp(services, { operatorKey: createLiveKey(OPERATOR_KEY), mailbox })
  const ask = (password: string) =>
    app.request(
      '/mailbox',
      {
        headers: {
          authorization: `Basic ${Buffer.from(`mailbox:${password}`).toString('base64')}`,
        },
      },
      { address: '127.0.0.1' },
    )
  for (const wrong of ['', 'x', OPERATOR_KEY]) {
    const answer = await ask(wrong)
    t.equal(answer.status, 401)
    t.match(answer.headers.get('www-authenticate'), /^Basic/)
    t.notMatch(await answer.text(), /s3cret/)
  }
  const answer = await ask(mailboxKey(OPERATOR_KEY))
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('cache-control'), 'no-store')
  const page = await answer.text()
  t.match(page, /<a href="https:\/\/id\.example\/\?ticket=s3cret"/)
  t.match(page, /Hello &lt;b&gt;/)
  t.match(page, '1970-01-01 00:00:00 UTC')
})

void t.test('with a mail server there is no mailbox', async (t) => {
  const services = await startServices(t)
  const app = createApp(services, { operatorKey: createLiveKey(OPERATOR_KEY) })
  t.equal((await app.request('/mailbox', {}, { address: '127.0.0.1' })).status, 404)
})

void t.test('the newest come first, so many on a page, and the pages lead on', async (t) => {
  const services = await startServices(t)
  const mails = Array.from({ length: 45 }, (_, index) => ({
    to: 'ada@example.test',
    subject: `Mail ${index + 1}.`,
    at: 0,
    text: 'x',
  }))
  const mailbox = { send: async () => {}, close: () => undefined, list: async () => mails }
  const app = createApp(services, { operatorKey: createLiveKey(OPERATOR_KEY), mailbox })
  const credentials = Buffer.from(`mailbox:${mailboxKey(OPERATOR_KEY)}`).toString('base64')
  const read = async (query: string) => {
    const headers = { authorization: `Basic ${credentials}` }
    const answer = await app.request(`/mailbox${query}`, { headers }, { address: '127.0.0.1' })
    const page = await answer.text()
    t.match(page, /<main>[^]*<\/main>/)
    const [first, last] = [/Mail (\d+)\./.exec(page)?.[1], page.match(/Mail \d+\./g)?.at(-1)]
    const links = [...page.matchAll(/href="\/mailbox\?page=(\d+)"/g)].map(([, to]) => to)
    return `${first} to ${last} ${links.join()}`
  }
  t.equal(await read(''), '1 to Mail 20. 2')
  t.equal(await read('?page=2'), '21 to Mail 40. 1,3')
  t.equal(await read('?page=3'), '41 to Mail 45. 2')
  t.equal(await read('?page=9'), '41 to Mail 45. 2', 'the last that there is')
  for (const wrong of ['0', '-1', 'x', '1e3'])
    t.equal(await read(`?page=${wrong}`), '1 to Mail 20. 2')
})
