import t from 'tap'
import { createApp } from '../../../control-plane/app.ts'
import { mailboxKey } from '../../../control-plane/config.ts'
import { OPERATOR_KEY } from '../../support/api.ts'
import { startServices } from '../../support/control-plane.ts'

void t.test('the mailbox opens with its password only, and shows text as text', async (t) => {
  const services = await startServices(t)
  const mail = {
    to: 'ada@example.test',
    subject: 'Hello <b>',
    at: 0,
    text: 'https://id.example/?ticket=s3cret',
  }
  const mailbox = { send: async () => {}, close: () => undefined, list: async () => [mail] }
  const app = createApp(services, { operatorKey: OPERATOR_KEY, mailbox })
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
})

void t.test('with a mail server there is no mailbox', async (t) => {
  const services = await startServices(t)
  const app = createApp(services, { operatorKey: OPERATOR_KEY })
  t.equal((await app.request('/mailbox', {}, { address: '127.0.0.1' })).status, 404)
})
