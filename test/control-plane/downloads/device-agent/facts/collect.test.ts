/** All facts at once: within their time, whatever a machine does; and on the machine that this runs on. */
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mock } from 'node:test'
import t from 'tap'
import * as v from 'valibot'
import { collectFacts } from '../../../../../control-plane/downloads/device-agent/facts/collect.ts'
import { fact, some } from '../../../../../control-plane/downloads/device-agent/facts/fact.ts'
import { createMachine } from '../../../../../control-plane/downloads/device-agent/facts/reader.ts'
import { DEVICE_FACTS, PostureSchema } from '../../../../../shared/device/facts.ts'
import { ANY_FACT_REASONS, FACT_REASONS } from '../../../../../shared/device/reasons.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import { pretendedMachine } from './pretended-machine.ts'

t.test('this machine is described in the words of the contract', async (t) => {
  // what costs seconds is the packages' business, and tested with theirs
  const here = createMachine({ platform: 'linux', nowMs: Date.now })
  const machine = { ...here, run: () => Promise.resolve({ kind: 'missing' } as const) }
  const found = await collectFacts(machine)
  const posture = v.parse(PostureSchema, { ...found, agent: '1.0.0' })
  for (const name of DEVICE_FACTS) {
    const known: readonly string[] = [...FACT_REASONS[name], ...ANY_FACT_REASONS]
    t.ok(known.includes(posture.facts[name].reason), `${name}: ${posture.facts[name].reason}`)
  }
})

t.test('a machine that knows nothing says so, for each fact', async (t) => {
  for (const platform of ['linux', 'win32', 'freebsd']) {
    const found = await collectFacts(pretendedMachine({ platform }))
    t.ok(v.is(PostureSchema, { ...found, agent: '1.0.0' }), platform)
    t.equal(found.facts.disk_encrypted.value, 'unknown')
  }
  const other = await collectFacts(pretendedMachine({ platform: 'freebsd' }))
  t.equal(other.facts.tpm.reason, 'platform_not_supported')
  t.equal(other.os.id, 'other')
})

t.test('what throws, or never answers, is unknown, and starts nothing more', async (t) => {
  const throws = pretendedMachine({})
  const broken = await collectFacts({ ...throws, bytes: () => Promise.reject(new Error('EIO')) })
  t.match(broken.facts.disk_encrypted, { value: 'unknown', reason: 'not_readable' })

  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const ran: string[] = []
  const hanging = pretendedMachine({ files: { '/proc/1/mountinfo': '' } })
  const late = collectFacts({
    ...hanging,
    async run({ file }) {
      ran.push(file)
      await new Promise((resolve) => setTimeout(resolve, LIMITS.deviceFactMsMax * 10))
      return { kind: 'missing' }
    },
  })
  // each step is a turn of the queue of promises, then the next deadline
  for (let fact = 0; fact < DEVICE_FACTS.length + 1; fact++) {
    for (let turn = 0; turn < 50; turn++) await Promise.resolve()
    mock.timers.tick(LIMITS.deviceFactMsMax)
  }
  const { facts } = await late
  t.match(facts.firewall, { value: 'unknown', reason: 'timed_out' })
  t.match(facts.screen_lock, { value: 'unknown', reason: 'timed_out' })
  t.match(facts.tpm, { value: false, reason: 'no_tpm' }, 'the others still count')
  mock.timers.tick(LIMITS.deviceFactMsMax * 10)
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
  t.equal(ran.length, 2, 'one command of each that hung, and none after its answer has come')
})

t.test('details are one short line, whatever a mount or a package is called', (t) => {
  t.strictSame(fact(false, 'not_encrypted', '/mnt/a\nb\u001b[31m'), {
    value: false,
    reason: 'not_encrypted',
    detail: '/mnt/a b [31m',
  })
  t.strictSame(fact(true, 'encrypted', ' \u0000 '), { value: true, reason: 'encrypted' })
  const long = fact(true, 'encrypted', '🦉'.repeat(LIMITS.deviceDetailCharactersMax))
  t.ok((long.detail ?? '').length <= LIMITS.deviceDetailCharactersMax)
  t.ok(long.detail?.isWellFormed())
  t.equal(some(['a', 'b', 'c', 'd', 'e', 'f']), 'a, b, c, d (+2)')
  t.end()
})

t.test('files and commands are read within bounds', async (t) => {
  const folder = t.testdir({ small: 'text' })
  const machine = createMachine({ platform: 'linux', nowMs: Date.now })
  t.strictSame(Buffer.from((await machine.bytes(join(folder, 'small'))) ?? []).toString(), 'text')
  await writeFile(join(folder, 'large'), Buffer.alloc(LIMITS.deviceFileBytesMax + 1))
  await symlink('small', join(folder, 'link'))
  await mkdir(join(folder, 'folder'))
  t.equal(await machine.bytes(join(folder, 'large')), null)
  t.equal(await machine.bytes(join(folder, 'folder')), null)
  for (const device of ['/dev/zero', '/dev/null'])
    t.equal(await machine.bytes(device), null, device)
  t.equal(await machine.bytes(join(folder, 'none')), null)
  t.equal(await machine.resolved(join(folder, 'link')), join(folder, 'small'))
  t.equal(await machine.names(join(folder, 'none')), null)
  t.ok(((await machine.writtenMs(folder)) ?? 0) > 0)

  const shell = (script: string) => machine.run({ file: '/bin/sh', args: ['-c', script] })
  t.strictSame(await shell('echo "$LC_ALL $0"; exit 3'), {
    kind: 'ended',
    code: 3,
    text: 'C /bin/sh\n',
  })
  t.strictSame(await shell('echo "${HOME-none}${DBUS_SESSION_BUS_ADDRESS-none}"'), {
    kind: 'ended',
    code: 0,
    text: 'nonenone\n',
  })
  t.strictSame(
    await shell('while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done'),
    {
      kind: 'failed',
    },
  )
  t.strictSame(await machine.run({ file: '/bin/none', args: [] }), { kind: 'missing' })
})
