import { constants } from 'node:http2'
import t from 'tap'
import { AnswerProgress } from '../../../gateway/http2/answer-progress.ts'
import { BodyBuffers } from '../../../gateway/http2/body-buffers.ts'
import { ask, startSecureWire } from '../../support/secure-wire.ts'
import { startOrigin } from '../../support/wire.ts'

const KIB = 1024
const PAGE_BYTES = 60_000

t.test('buffers are lent for large pieces only, and few are kept', (t) => {
  const buffers = new BodyBuffers()
  t.equal(buffers.lend(32 * KIB), null, 'what is half as large costs less by itself')
  t.equal(buffers.lend(128 * KIB + 1), null)
  const small = buffers.lend(32 * KIB + 1)!
  const large = buffers.lend(64 * KIB + 1)!
  t.match([small.length, large.length], [64 * KIB, 128 * KIB])
  t.not(buffers.lend(64 * KIB), small, 'each has one borrower')
  buffers.giveBack(small)
  buffers.giveBack(large)
  t.equal(buffers.lend(128 * KIB), large)
  t.equal(buffers.lend(64 * KIB), small)
  const borrowed = new Set(Array.from({ length: 100 }, () => buffers.lend(64 * KIB)!))
  for (const one of borrowed) buffers.giveBack(one)
  const kept = Array.from({ length: 100 }, () => borrowed.has(buffers.lend(64 * KIB)!))
  t.equal(kept.filter(Boolean).length, 32, 'two MiB of each size')
  t.end()
})

t.test('a buffer comes back when its stream has sent what lies in it', (t) => {
  const piece = Buffer.alloc(PAGE_BYTES, 'x')
  const buffers = new BodyBuffers()
  const progress = new AnswerProgress(buffers)
  progress.add(piece, 0, piece.length)
  const body = progress.take()!
  t.same(body, piece)
  let told = 0
  const whenDone = progress.whenDone(() => told++)!
  t.not(buffers.lend(PAGE_BYTES)!.buffer, body.buffer, 'not while it is sent')
  whenDone()
  t.equal(told, 1)
  t.equal(buffers.lend(PAGE_BYTES)!.buffer, body.buffer)
  for (let count = 0; count < 2; count++) progress.add(piece, 0, piece.length)
  t.equal(progress.take()!.length, 2 * PAGE_BYTES)
  t.equal(progress.whenDone(undefined), undefined)
  progress.add(piece, 0, piece.length)
  progress.drop()
  progress.addText('ok')
  t.equal(progress.take()!.toString(), 'ok', 'and nothing of what was dropped')
  t.equal(progress.whenDone(undefined), undefined)
  t.end()
})

t.test('each of many large answers is its own, whoever leaves', async (t) => {
  const origin = await startOrigin(t, (request, response) => {
    response.end(Buffer.alloc(PAGE_BYTES, request.url))
  })
  const wire = await startSecureWire(t, origin.url)
  const client = wire.http2Client()
  for (let round = 0; round < 4; round++) {
    const left = Array.from({ length: 8 }, (_item, index) => {
      const stream = client.request({ ':path': `/left-${round}-${index}` })
      stream.on('error', () => {})
      return new Promise<void>((resolve) => {
        stream.once('response', () => stream.close(constants.NGHTTP2_CANCEL)).once('close', resolve)
      })
    })
    const paths = Array.from({ length: 24 }, (_item, index) => `/${round}-${index};`)
    const answers = await Promise.all(paths.map((path) => ask(client, { ':path': path })))
    await Promise.all(left)
    const isRight = answers.every(({ body }, index) =>
      body.equals(Buffer.alloc(PAGE_BYTES, paths[index])),
    )
    t.ok(isRight, `round ${round}`)
  }
})
