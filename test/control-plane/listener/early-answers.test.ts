/**
 * A body that nobody wants has its answer while it is still being sent: the client reads that answer
 * and finds no broken connection, whoever it is.
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request as ask } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { drainAfterAnswer } from '../../../control-plane/listener/early-answers.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { OPERATOR_KEY } from '../../support/api.ts'
import { temporaryFolder } from '../../support/control-plane.ts'
import { startPublicServer } from '../../support/public-server.ts'
import { REALM, startListener } from './served.ts'

const MEGABYTE = 1024 * 1024
const TENANTS = '/api/v1/operator/tenants'
const AUTHORIZATION = `Bearer ${OPERATOR_KEY}`
const LARGE = Buffer.alloc(20 * MEGABYTE, ' ')

/** Written in pieces, as a client that has no length to tell. */
async function* pieces(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += MEGABYTE) yield bytes.subarray(at, at + MEGABYTE)
}

t.test('fetch reads the 413 of a body that it is still sending', async (t) => {
  const { baseUrl } = await startPublicServer(t)
  const headers = { authorization: AUTHORIZATION, 'content-type': 'application/json' }
  for (const body of [LARGE, pieces(LARGE)] as never[]) {
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
    const answer = await fetch(baseUrl + TENANTS, init)
    t.equal(answer.status, 413)
    t.match(await answer.json(), { error: 'body_too_large' })
  }
  const strangers = await fetch(baseUrl + TENANTS, { method: 'POST', body: LARGE })
  t.equal(strangers.status, 401, 'nor is a refusal lost that read nothing of it')
  await strangers.text()
})

t.test('curl reads it, whether it waits for leave to send or not', async (t) => {
  const { baseUrl } = await startPublicServer(t)
  const file = join(temporaryFolder(t), 'large.json')
  writeFileSync(file, LARGE)
  for (const more of [
    [],
    ['-H', 'Expect:'],
    ['-H', 'Transfer-Encoding: chunked'],
    ['-H', 'Connection: close', '-H', 'Expect:'],
  ]) {
    const key = `Authorization: ${AUTHORIZATION}`
    const type = 'Content-Type: application/json'
    const sent = ['--data-binary', `@${file}`, '-H', key, '-H', type, ...more]
    const args = ['-s', '-w', ' %{http_code}', '--max-time', '30', ...sent, baseUrl + TENANTS]
    const said = await new Promise<string>((resolve) =>
      execFile('curl', args, (error, out) => resolve(`${error?.code ?? 0} ${out}`)),
    )
    t.match(said, /^0 \{"error":"body_too_large"[^]* 413$/, more.join(' '))
  }
})

t.test('a client that writes all of it before it reads has its answer, too', async (t) => {
  const { port } = await startPublicServer(t)
  for (const connection of ['keep-alive', 'close']) {
    const socket = connect(port, '127.0.0.1')
    socket.pause()
    socket.write(
      `POST ${TENANTS} HTTP/1.1\r\nHost: a\r\nAuthorization: ${AUTHORIZATION}\r\n` +
        `Connection: ${connection}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${LARGE.length}\r\n\r\n`,
    )
    await new Promise((resolve) => socket.write(LARGE, resolve))
    const [answer] = (await once(socket.resume(), 'data')) as [Buffer]
    t.match(answer.toString(), /^HTTP\/1.1 413 /, connection)
    if (connection === 'keep-alive') {
      socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200 /, 'the connection goes on')
    }
    await once(socket, 'close')
  }
})

t.test('leave to send is not given where the answer is no already', async (t) => {
  const { port } = await startPublicServer(t)
  const request = ask({ port, path: TENANTS, method: 'POST' })
  t.teardown(() => request.destroy())
  request.setHeader('Authorization', AUTHORIZATION)
  request.setHeader('Content-Type', 'application/json')
  request.setHeader('Content-Length', LARGE.length)
  request.setHeader('Expect', '100-continue')
  request.on('continue', () => t.fail('nothing of it is wanted'))
  request.flushHeaders()
  const [answer] = (await once(request, 'response')) as [{ statusCode: number }]
  t.equal(answer.statusCode, 413)
})

t.test('a form that is too large for a page is answered with a page', async (t) => {
  const { baseUrl, tenant, services } = await startPublicServer(t)
  await tenant('acme')
  await services.tenants.publish('acme', { name: 'test', requestId: 'test' })
  for (const path of ['authorize', 'logout', 'account/forgotten', 'token']) {
    const body = new URLSearchParams({ username: 'x'.repeat(4 * MEGABYTE) })
    const answer = await fetch(`${baseUrl}/auth/realms/acme/${path}`, { method: 'POST', body })
    t.ok(answer.status < 500, path)
    await answer.text()
  }
})

t.test('what is thrown away has bounds in bytes and in time', async (t) => {
  for (const limits of [
    { bytesMax: MEGABYTE, ms: 60_000 },
    { bytesMax: Infinity, ms: 50 },
  ]) {
    const { port } = await startListener(t, (request, response) => {
      drainAfterAnswer(request, response, limits)
      response.end('no')
    })
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined).resume()
    socket.write(`POST ${REALM} HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999\r\n\r\n`)
    const write = (): unknown => !socket.destroyed && socket.write(LARGE, write)
    if (limits.bytesMax === MEGABYTE) write()
    await new Promise((resolve) => socket.once('close', resolve))
  }
  t.equal(LIMITS.unwantedBodyBytesMax, 64 * MEGABYTE)
  t.equal(LIMITS.unwantedBodyMsMax, 20_000)
})
