/** Every reason has words in both languages, and what fails says how to mend it or that nobody can. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { DEVICE_WORDS, sayReason } from '../../../shared/device-words/say-reason.ts'
import { DEVICE_FACTS, DEVICE_PLATFORMS } from '../../../shared/device/facts.ts'
import { ANY_FACT_REASONS, DEMAND_REASONS, FACT_REASONS } from '../../../shared/device/reasons.ts'
import { LANGUAGES } from '../../../shared/sign-in/language.ts'
import { LIMITS } from '../../../shared/limits.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

t.test('each reason of each fact is put into words, in both languages', (t) => {
  for (const language of LANGUAGES)
    for (const platform of DEVICE_PLATFORMS)
      for (const what of DEVICE_FACTS)
        for (const reason of [...FACT_REASONS[what], ...ANY_FACT_REASONS]) {
          const { title, said } = sayReason(language, { what, reason, platform })
          t.match(said, /^\p{L}.*\.$/u, `${language} ${what} ${reason}`)
          t.notMatch(`${title} ${said}`, /_|undefined/)
        }
  t.end()
})

t.test('what the policy finds is put into words as well', (t) => {
  for (const [what, reasons] of Object.entries(DEMAND_REASONS))
    for (const reason of reasons)
      for (const language of LANGUAGES) {
        const asked = {
          what: what as keyof typeof DEMAND_REASONS,
          reason,
          platform: 'linux',
        } as const
        t.ok(sayReason(language, asked).mend, `${language} ${what} ${reason}`)
      }
  const source = readFileSync(`${ROOT}control-plane/policy/compliance.ts`, 'utf8')
  const known: readonly string[] = [...Object.values(DEMAND_REASONS).flat(), ...ANY_FACT_REASONS]
  const used = [...source.matchAll(/reason: '([a-z_]+)'|\? '([a-z_]+)' : '([a-z_]+)'/g)]
  const reasons = used.flatMap(([, ...names]) => names.filter(Boolean))
  t.ok(reasons.length > 6)
  t.same(
    reasons.filter((reason) => !known.includes(reason)),
    [],
  )
  t.end()
})

t.test('probes send no reason without words', (t) => {
  const folder = 'control-plane/downloads/device-agent/facts'
  const known = new Set<string>([...Object.values(FACT_REASONS).flat(), ...ANY_FACT_REASONS])
  const sources = globSync(`${folder}/**/*.ts`, { cwd: ROOT }).map((file) =>
    readFileSync(`${ROOT}${file}`, 'utf8'),
  )
  const sent = sources.flatMap((source) =>
    [...source.matchAll(/fact\((?:true|false|'unknown'),\s*'([a-z0-9_]+)'/g)].map(
      ([, name]) => name,
    ),
  )
  t.ok(sent.length > 40)
  t.same(
    sent.filter((reason) => !known.has(reason ?? '')),
    [],
  )
  const asked = sources.join('\n')
  const never = [...known].filter((name) => !asked.includes(`'${name}'`) && name !== 'not_reported')
  t.same(never, [], 'and none has words that no probe sends')
  t.end()
})

t.test('how to mend it is told for the platform at hand, and an unknown reason as it came', (t) => {
  const asked = { what: 'disk_encrypted', reason: 'not_encrypted' } as const
  t.match(sayReason('en', { ...asked, platform: 'windows' }).mend, /BitLocker/)
  t.match(sayReason('en', { ...asked, platform: 'linux' }).mend, /LUKS/)
  t.match(sayReason('de', { ...asked, platform: 'windows' }).mend, /„BitLocker verwalten“/)
  t.notOk(sayReason('en', { ...asked, reason: 'encrypted', platform: 'linux' }).mend)
  for (const reason of ['from_tomorrow', 'constructor', '__proto__', 'toString'])
    t.strictSame(sayReason('en', { what: 'tpm', reason, platform: 'linux' }), {
      title: 'Security chip (TPM)',
      said: `Reported as “${reason}”.`,
    })
  t.end()
})

t.test('numbers in words are those that hold', (t) => {
  for (const { facts } of Object.values(DEVICE_WORDS))
    t.match(facts.screen_lock.lock_late.said, `${LIMITS.deviceLockSecondsMax / 60} `)
  t.equal(LIMITS.deviceUpdateDataDaysMax, 7, 'a week')
  t.equal(LIMITS.deviceCollectSeconds, 300, 'five minutes')
  t.end()
})
