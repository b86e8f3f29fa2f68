/** By SMTP: over kept connections, to one person, in the clear to nobody. */
import { createServer, type Socket } from 'node:net'
import t from 'tap'
import type { Mail } from '../../../control-plane/mail/mails.ts'
import { createSmtp } from '../../../control-plane/mail/smtp.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { temporaryFolder } from '../../support/control-plane.ts'

type Scope = Parameters<typeof temporaryFolder>[0]

const FROM = 'no-reply@example.test'
const MAIL: Mail = { to: 'ada@example.test', subject: 'Hello', text: 'Hello Ada\n' }

void t.test('mails follow one another over the connections that there are', async (t) => {
  const heard = await smtpServer(t)
  const smtp = createSmtp({ url: `smtp://127.0.0.1:${heard.port}`, from: FROM })
  t.teardown(() => smtp.close())
  for (let count = 0; count < 3; count++) await smtp.send({ ...MAIL, at: 0 })
  t.equal(heard.connections(), 1)
  await Promise.all(Array.from({ length: 20 }, () => smtp.send({ ...MAIL, at: 0 })))
  t.equal(heard.connections(), LIMITS.mailSendsMax)
  t.equal(heard.mails(), 23)
})

void t.test('a server that hangs up in between gets the next mail all the same', async (t) => {
  const heard = await smtpServer(t)
  const smtp = createSmtp({ url: `smtp://127.0.0.1:${heard.port}`, from: FROM })
  t.teardown(() => smtp.close())
  for (let count = 0; count < 2; count++) {
    await smtp.send({ ...MAIL, at: 0 })
    heard.hangUp()
  }
  await smtp.send({ ...MAIL, at: 0 })
  t.equal(heard.mails(), 3)
})

void t.test('by SMTP: the mail arrives, and an address names one person', async (t) => {
  const heard = await smtpServer(t)
  const smtp = createSmtp({ url: `smtp://127.0.0.1:${heard.port}`, from: FROM })
  t.teardown(() => smtp.close())
  await smtp.send({ ...MAIL, at: 0 })
  t.match(heard.lines.join('\n'), /RCPT TO:<ada@example\.test>/)
  t.match(heard.lines.join('\n'), /Subject: Hello/)
  t.match(heard.lines.join('\n'), /Auto-Submitted: auto-generated/)
  t.notMatch(heard.lines.join('\n'), 'List-Unsubscribe')
  await smtp.send({ ...MAIL, unsubscribe: 'https://id.example.test/stop/x', at: 0 })
  t.match(heard.lines.join('\n'), 'List-Unsubscribe: <https://id.example.test/stop/x>')
  t.match(heard.lines.join('\n'), 'List-Unsubscribe-Post: List-Unsubscribe=One-Click')
  await smtp.send({ ...MAIL, to: 'ada@example.test, eve@evil.example', at: 0 }).catch(() => {})
  t.notMatch(heard.lines.join('\n'), /RCPT TO:<eve@evil\.example>/)
})

void t.test('a server elsewhere that offers no TLS gets no password', async (t) => {
  const heard = await smtpServer(t)
  const url = `smtp://user:hush@localhost.localdomain.invalid:${heard.port}`
  const smtp = createSmtp({ url, from: FROM })
  t.teardown(() => smtp.close())
  await t.rejects(smtp.send({ ...MAIL, at: 0 }))
  t.strictSame(heard.lines, [])
})

/** As much of a mail server as it takes to hear what is said to it. */
async function smtpServer(t: Scope) {
  const lines: string[] = []
  let mails = 0
  let connections = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    connections++
    let isData = false
    socket.write('220 test\r\n')
    socket.on('data', (chunk) => {
      for (const line of chunk.toString('latin1').split('\r\n').filter(Boolean)) {
        lines.push(line)
        if (isData) {
          if (line !== '.') continue
          isData = false
          mails++
          socket.write('250 taken\r\n')
        } else if (line === 'DATA') {
          isData = true
          socket.write('354 go on\r\n')
        } else if (line === 'QUIT') socket.end('221 bye\r\n')
        else socket.write('250 test\r\n')
      }
    })
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const hangUp = () => {
    for (const socket of sockets) socket.destroy()
  }
  t.teardown(() => {
    hangUp()
    server.close()
  })
  return {
    port: (server.address() as { port: number }).port,
    lines,
    hangUp,
    mails: () => mails,
    connections: () => connections,
  }
}
