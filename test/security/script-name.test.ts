/**
 * gunicorn takes a header line `SCRIPT_NAME: /x` for where its application begins, and routes by
 * what is left of the path: `GET /x/admin` is `/admin` to the application and an ordinary path to
 * whoever stands in front. The real server, a real Flask application, every wire of the edge.
 */
import { execFileSync, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { temporaryFolder } from '../support/control-plane.ts'
import { HOST, startEdge, USER_AGENT } from '../support/edge-world.ts'
import { startSecureEdge } from '../support/secure-edge.ts'
import { RawClient } from '../support/wire.ts'

/** Debian's: another Python on the PATH has none of its packages. */
const INTERPRETER = '/usr/bin/python3'

const APPLICATION = `from flask import Flask, request
app = Flask(__name__)

@app.get('/admin')
def admin():
    return 'SALARIES'

@app.get('/<path:path>')
def other(path):
    return f"path {request.path} below {request.script_root or 'nothing'}"
`

function missing(): string | false {
  try {
    execFileSync(INTERPRETER, ['-c', 'import flask, gunicorn'], { stdio: 'ignore' })
    return false
  } catch {
    return `${INTERPRETER} has no flask or gunicorn`
  }
}

async function startGunicorn(t: Test): Promise<string> {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'application.py'), APPLICATION)
  const args = ['-m', 'gunicorn', '--bind', '127.0.0.1:0', '--worker-tmp-dir', folder]
  const child = spawn(INTERPRETER, [...args, 'application:app'], { cwd: folder })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  t.teardown(async () => {
    child.kill()
    await ended
  })
  let said = ''
  for await (const piece of child.stderr as AsyncIterable<Buffer>) {
    said += piece.toString()
    const url = /Listening at: (http:\S+)/.exec(said)?.[1]
    if (url !== undefined) {
      child.stderr.resume()
      return url
    }
  }
  throw new Error(`gunicorn did not start: ${said}`)
}

const SPELLINGS = ['SCRIPT_NAME', 'script_name', 'Script_Name', 'Script-Name', 'X-Script-Name']

t.test('no header moves the path that gunicorn routes by', { skip: missing() }, async (t) => {
  const origin = await startGunicorn(t)

  const asked = async (port: number, target: string, lines: string) => {
    const client = new RawClient(port)
    client.send(`GET ${target} HTTP/1.1\r\nHost: ${HOST}\r\nUser-Agent: ${USER_AGENT}\r\n${lines}\r\n`) // prettier-ignore
    const answer = await client.answer('GET')
    client.close()
    return `${answer?.status} ${answer?.body.toString()}`
  }
  const direct = await asked(Number(new URL(origin).port), '/x/admin', 'SCRIPT_NAME: /x\r\n')
  t.equal(direct, '200 SALARIES', 'gunicorn does so, where nobody stands in front')

  await t.test('HTTP/1.1', async (t) => {
    const edge = await startEdge(t, origin)
    for (const name of SPELLINGS) {
      const signedIn = `Cookie: ${edge.session()}\r\n`
      const sealed = await asked(edge.port, '/x/admin', `${signedIn}${name}: /x\r\n`)
      t.equal(sealed, '200 path /x/admin below nothing', `${name}, signed in`)
      const excluded = await asked(edge.port, '/health/admin', `${name}: /health\r\n`)
      t.equal(excluded, '200 path /health/admin below nothing', `${name}, nobody`)
    }
  })

  await t.test('HTTP/2', async (t) => {
    const edge = await startSecureEdge(t, origin)
    const session = await edge.http2()
    for (const name of SPELLINGS) {
      const head = { ...edge.headersOf('/x/admin'), [name.toLowerCase()]: '/x' }
      let body = ''
      for await (const piece of session.request(head)) body += String(piece)
      t.equal(body, 'path /x/admin below nothing', name)
    }
  })
})
