// long: installs and removes in namespaces of its own
/**
 * What the installer does where something is missing, wrong or refused, with an agent that only takes
 * notes: it stops with words, and leaves the machine as it was. As root in a namespace of its own.
 */
import { createHash } from 'node:crypto'
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { makeInstaller } from '../../../../control-plane/downloads/bundling/installer.ts'
import { temporaryFolder } from '../../../support/control-plane.ts'

const SCRIPT = new URL(
  '../../../../control-plane/downloads/device-agent/install.sh',
  import.meta.url,
)
const DASH = '/usr/bin/dash'
const COMMAND = '/usr/local/bin/service-device-agent'
const DIRECTORY = '/usr/local/lib/service-device-agent'
const EMPTY = ['/usr/local', '/etc/systemd/system', '/var/lib', '/run', '/home']
const HERE = `for folder in ${EMPTY.join(' ')}; do mount -t tmpfs none "$folder"; done
mkdir -p /run/systemd/system /usr/local/bin /usr/local/lib`
const TREE = `find ${EMPTY.join(' ')} "$TMPDIR" | sort`

const AGENT = `import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
const said = process.argv.slice(2).join(' ')
const note = (text) => appendFileSync(process.env.NOTES, text + '\\n')
const folder = '/var/lib/service-device-agent'
const unit = '/etc/systemd/system/service-device-agent.service'
note(said)
if (said === 'enroll') note('ticket ' + readFileSync(0, 'utf8').trim())
if (said === process.env.FAILS) process.exit(1)
if (said === 'enroll') mkdirSync(folder, { recursive: true })
if (said === 'enroll') writeFileSync(folder + '/device.json', '{}')
if (said === 'service install') writeFileSync(unit, '')
if (said === 'service uninstall') rmSync(unit)
if (said === 'leave') rmSync(folder, { recursive: true })
`
const NODE = `#!/bin/sh
case $1 in -p) echo "\${NODE_MAJOR:-26}" ;; *) exec '${process.execPath}' "$@" ;; esac
`
const TOOLS = 'cat chmod cp find head id ls mkdir mktemp mount mv readlink rm sh sort uname'.split(
  ' ',
)

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

function isAble(): boolean {
  try {
    execFileSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/run'], { stdio: 'ignore' })
    return process.getuid?.() === 0 && existsSync(DASH)
  } catch {
    return false
  }
}

interface Wanted {
  /** Before the machine is looked at. */
  readonly before?: string
  /** What is done there; the script itself is the file `script`. */
  readonly work?: string
  readonly values?: Readonly<Record<string, string>>
  readonly environment?: Readonly<Record<string, string>>
  /** Nothing but these beside what every machine has. */
  readonly tools?: readonly string[]
}

async function start(t: Parameters<typeof temporaryFolder>[0]) {
  const files: Record<string, string> = {
    '/install/agent/agent.mjs': AGENT,
    '/install/node/linux-x64': NODE,
    '/install/node/linux-arm64': NODE,
  }
  const server = createServer((request, response) => {
    const text = files[request.url ?? '']
    response.writeHead(text === undefined ? 404 : 200).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo

  return async ({ before = '', work, values = {}, environment = {}, tools }: Wanted) => {
    const folder = temporaryFolder(t)
    const [bin, temporary, notes] = ['bin', 'temporary', 'notes'].map((name) => join(folder, name))
    mkdirSync(bin!)
    mkdirSync(temporary!)
    writeFileSync(join(bin!, 'node'), NODE, { mode: 0o755 })
    for (const tool of tools === undefined ? [] : [...TOOLS, ...tools])
      symlinkSync(
        ['/usr/bin', '/bin', '/usr/sbin'].map((place) => join(place, tool)).find(existsSync)!,
        join(bin!, tool),
      )
    const own: Record<string, string> = {
      ...{ BASE_URL: `http://127.0.0.1:${port}`, VERSION: '9.8.7', TICKET: 'sdt_ticket' },
      ...{ NAME: 'service-device-agent', SECONDS_MAX: '900' },
      ...{ AGENT_SHA256: sha256(AGENT), NODE_X64_SHA256: '', NODE_ARM64_SHA256: '' },
      ...values,
    }
    const text = await makeInstaller(SCRIPT, own)
    writeFileSync(join(folder, 'script'), text)
    writeFileSync(notes!, '')
    const all = `set -e
${HERE}
${before}
${TREE} >"$OUT/before"
set +e
${work ?? `${DASH} script`}
code=$?
set -e
${TREE} >"$OUT/after"
exit $code`
    const PATH = [
      bin!,
      ...(tools === undefined ? ['/usr/local/bin', '/usr/bin', '/bin', '/sbin'] : []),
    ]
    const ended = await new Promise<{ code: number; out: string; err: string }>((resolve) => {
      execFile(
        '/usr/bin/unshare',
        ['-m', '/bin/sh', '-c', `exec 3<script; exec 0</dev/null; ${all}`],
        {
          cwd: folder,
          env: {
            PATH: PATH.join(':'),
            TMPDIR: temporary!,
            NOTES: notes!,
            OUT: folder,
            ...environment,
          },
        },
        (error, out, err) => resolve({ code: Number(error?.code ?? 0), out, err }),
      )
    })
    const read = (name: string) => readFileSync(join(folder, name), 'utf8')
    return { ...ended, before: read('before'), after: read('after'), notes: read('notes') }
  }
}

const options = { skip: !isAble() && 'needs root, namespaces and dash' }

void t.test('whatever is missing or refused is said, and nothing stays', options, async (t) => {
  const run = await start(t)
  const NODES = { NODE_X64_SHA256: sha256(NODE), NODE_ARM64_SHA256: sha256(NODE) }
  const old = { environment: { NODE_MAJOR: '18' } }
  const cases: Readonly<Record<string, readonly [Wanted, RegExp]>> = {
    'another program than was signed for': [
      { values: { AGENT_SHA256: sha256('other') } },
      new RegExp(`not what this script was made for.*${sha256('other')}.*${sha256(AGENT)}`, 's'),
    ],
    'another Node than was meant': [
      { ...old, values: { NODE_X64_SHA256: sha256('a'), NODE_ARM64_SHA256: sha256('a') } },
      /install\/node\/linux-.* is not what this script was made for/,
    ],
    'a service that cannot be reached': [
      { values: { BASE_URL: 'http://127.0.0.1:1' } },
      /agent\.mjs cannot be fetched\..*Try: curl -v http.*Nothing has been installed/s,
    ],
    'a ticket that is refused': [
      { environment: { FAILS: 'enroll' } },
      /could not be enrolled\.\n {2}Nothing has been installed\./,
    ],
    'no systemd': [{ before: 'rmdir /run/systemd/system' }, /systemd does not run this machine/],
    'a Node that is too old': [old, /Node\.js 20 or later is needed.*npm run device-runtimes/s],
    'a Node that says nothing': [
      { environment: { NODE_MAJOR: ' ' } },
      /Node\.js 20 or later is needed/,
    ],
    'a Node of one person': [
      { before: 'mkdir /home/ada; cp "$OUT/bin/node" /home/ada/node; PATH=/home/ada:$PATH' },
      /Node\.js 20 or later is needed/,
    ],
    'a command of somebody else': [
      { before: `printf '#!/bin/sh\\necho mine\\n' >${COMMAND}` },
      /service-device-agent is not what this script puts there/,
    ],
    'a link of somebody else': [
      { before: `ln -s /nowhere ${COMMAND}` },
      /is not what this script puts there/,
    ],
    'a word that it does not know': [{ work: `${DASH} script remove` }, /nothing called "remove"/],
    'no rights': [
      { work: `setpriv --reuid=65534 --clear-groups ${DASH} -s <&3` },
      /installed and removed by root\.\n {2}Run this with sudo/,
    ],
    'no rights to remove': [
      { work: `setpriv --reuid=65534 --clear-groups ${DASH} -s uninstall <&3` },
      /installed and removed by root\.\n {2}Run this with sudo/,
    ],
    'nothing to fetch with': [{ tools: ['sha256sum'] }, /neither curl nor wget/],
    'nothing to check with': [{ tools: ['curl'] }, /no sha256sum, no shasum and no openssl/],
    'no place for files': [{ environment: { TMPDIR: '/nowhere' } }, /Set TMPDIR/],
  }
  for (const [name, [wanted, said]] of Object.entries(cases)) {
    const { code, err, before, after } = await run(wanted)
    t.equal(code, 1, name)
    t.match(err, said, name)
    t.equal(after, before, name)
  }
  const { err } = await run({
    ...old,
    values: NODES,
    environment: { NODE_MAJOR: '18', FAILS: 'enroll' },
  })
  t.match(err, /could not be enrolled/, 'also with the Node that it has brought along')
})

void t.test('a Node that others than root may change is not even tried', options, async (t) => {
  const run = await start(t)
  const place = '/run/theirs/lib/bin'
  const begin = (change: string) => `mkdir -p ${place}
printf '#!/bin/sh\necho tried >>"$NOTES"\necho 26\n' >${place}/node
chmod 755 ${place}/node
PATH=${place}:$PATH
${change}`
  const plain = await run({ before: begin('true'), environment: { FAILS: 'enroll' } })
  t.match(plain.notes, /^tried$/m, 'one of root is')
  const linked =
    'mkdir /run/links; ln -s ../theirs/lib/bin/node /run/links/node; PATH=/run/links:$PATH'
  for (const change of [
    `chmod g+w ${place}/node`,
    `chmod o+w ${place}/node`,
    `chmod g+w ${place}`,
    `chmod o+w ${place}`,
    'chmod g+w /run/theirs',
    'chmod o+w /run/theirs/lib',
    'chmod 0777 /run',
    `chown 65534 ${place}/node`,
    'chown 65534 /run/theirs/lib',
    'chown 65534 /run/theirs; chmod 1755 /run/theirs',
    `chmod 1757 ${place}/node`,
    `${linked}; chmod o+w ${place}`,
  ]) {
    const { code, err, notes, after, before } = await run({ before: begin(change) })
    t.equal(code, 1, change)
    t.match(err, `${place}/node is not used: others than root may change it`, change)
    t.equal(notes, '', change)
    t.equal(after, before, change)
  }
  const NODES = { NODE_X64_SHA256: sha256(NODE), NODE_ARM64_SHA256: sha256(NODE) }
  const before = begin('chmod o+w /run/theirs')
  const brought = await run({
    before,
    values: NODES,
    work: `${DASH} script && tail -n 1 ${COMMAND}`,
  })
  t.match(brought, { code: 0, out: `exec ${DIRECTORY}/node ` }, 'the one that is handed out')
})

void t.test('it takes the ticket by a pipe, and what the machine has', options, async (t) => {
  const run = await start(t)
  const installed = `enroll\nticket sdt_ticket\nservice install\n`
  const plain = await run({})
  t.match(plain, { code: 0, err: '', notes: installed })
  t.match(plain.out, /^service-device-agent 9\.8\.7 is installed\.$/m)
  t.match(plain.after, `${DIRECTORY}/agent.mjs\n`)
  t.notMatch(plain.after, /temporary\/service|next|lib\/service-device-agent\/node/)
  for (const tools of [
    ['wget', 'sha256sum'],
    ['curl', 'openssl'],
    ['curl', 'shasum', 'perl'],
  ]) {
    if (!tools.every((tool) => existsSync(join('/usr/bin', tool)))) continue
    t.match(await run({ tools }), { code: 0, err: '', notes: installed }, tools.join(' and '))
  }
  const NODES = { NODE_X64_SHA256: sha256(NODE), NODE_ARM64_SHA256: sha256(NODE) }
  const work = `${DASH} script && head -n 3 ${COMMAND} && stat -c %a ${DIRECTORY} ${DIRECTORY}/* ${COMMAND}
${DASH} script uninstall`
  const brought = await run({ work, values: NODES, environment: { NODE_MAJOR: '18' } })
  t.match(brought, { code: 0, notes: `${installed}service uninstall\nleave\n` })
  t.match(brought.out, `exec ${DIRECTORY}/node ${DIRECTORY}/agent.mjs "$@"\n`)
  t.match(brought.out, '755\n644\n755\n755\n', 'everybody may run it, root alone change it')
  t.equal(brought.after, brought.before)
  t.match(await run({ environment: { NODE_MAJOR: '20' } }), { code: 0, notes: installed })
  const asked = await run({
    values: { TICKET: '' },
    work: `echo sdt_typed | setsid -w ${DASH} script`,
  })
  t.match(asked.notes, 'enroll\nticket sdt_typed\n', 'of a script without one')
})

void t.test('once more, half way, and back', options, async (t) => {
  const run = await start(t)
  const again = await run({ work: `${DASH} script && FAILS=enroll ${DASH} script` })
  t.equal(again.code, 1)
  t.match(again.after, `${DIRECTORY}/agent.mjs\n`, 'what was there before stays')
  t.match(again.after, COMMAND)
  const half = await run({ environment: { FAILS: 'service install' } })
  t.match(half, { code: 1, err: /enrolled, but not installed as a service/ })
  t.match(half.err, `take everything back: ${COMMAND} service uninstall && ${COMMAND} leave`)
  t.match(half.after, COMMAND, 'with which it is taken back')

  const nothing = await run({ work: `${DASH} script uninstall` })
  t.match(nothing, { code: 0, out: /nothing to remove/, notes: '' })
  for (const fails of ['service uninstall', 'leave']) {
    const kept = await run({ work: `${DASH} script && FAILS='${fails}' ${DASH} script uninstall` })
    t.match(kept, { code: 1, err: /could not be removed\.\n {2}Not everything has been removed\./ })
    t.match(kept.after, COMMAND, 'which may be tried again')
  }
  const bare = 'rm -r /var/lib/service-device-agent'
  const left = await run({ work: `${DASH} script && ${bare} && ${DASH} script uninstall` })
  t.match(left, { code: 0, notes: /service uninstall\n$/ }, 'who has left already')
  t.equal(left.after, left.before)
  const foreign = `${DASH} script && printf '#!/bin/sh\\n' >${COMMAND} && ${DASH} script uninstall`
  t.match(await run({ work: foreign }), { code: 1, err: /is not what this script puts there/ })
})

void t.test('a step that fails is the last one', options, async (t) => {
  const run = await start(t)
  const broken = (tool: string) => `mkdir /run/broken
printf '#!/bin/sh\necho "no ${tool}" >&2\nexit 1\n' >/run/broken/${tool}
chmod 755 /run/broken/${tool}
PATH=/run/broken:$PATH`
  for (const tool of ['mkdir', 'cp', 'chmod', 'mv']) {
    const { code, err, notes, before, after } = await run({ before: broken(tool) })
    t.not(code, 0, tool)
    t.match(err, `no ${tool}\nservice-device-agent: Nothing has been installed.\n`)
    t.equal(notes, '', `nobody is enrolled without ${tool}`)
    t.equal(after, before, tool)
    const again = await run({ work: `${DASH} script\n${broken(tool)}\n${DASH} script` })
    t.not(again.code, 0, `${tool}, at an update`)
    t.equal(again.notes.match(/^enroll$/gm)?.length, 1, 'which is not taken for one')
  }
})

void t.test('of a script that has come only in part nothing is done', options, async (t) => {
  const run = await start(t)
  const work = `lines=$(wc -l <script)
while [ "$lines" -gt 1 ]; do lines=$((lines - 1)); head -n "$lines" script | ${DASH}; done`
  const { code, notes, after, before } = await run({ work })
  t.match({ code, notes }, { code: 0, notes: '' })
  t.equal(after, before)
})
