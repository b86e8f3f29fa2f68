import { readFileSync } from 'node:fs'
import t from 'tap'
import {
  compileExcluded,
  compileSealed,
  normalPrefix,
  pathOf,
} from '../../../shared/enforcement/path.ts'
import { LIMITS } from '../../../shared/limits.ts'

interface PathCase {
  readonly id: string
  readonly target: string
  readonly require: string
  readonly allow: readonly string[]
  readonly why: string
}

const { cases } = JSON.parse(
  readFileSync(new URL('../../fixtures/path-bypass-cases.json', import.meta.url), 'utf8'),
) as { cases: PathCase[] }

const sealed = compileSealed(['/admin'])
const excluded = compileExcluded(['/health'])

function judge(target: string): string {
  const path = pathOf(target)
  const verdict = sealed(path)
  if (verdict === 'sealed') return 'sealed-404'
  if (verdict === 'unreadable') return 'reject-400'
  return excluded(path) ? 'public' : 'session'
}

t.test(
  'every sample of a path that tries to get round the decision is decided safely',
  async (t) => {
    // absolute-form and fragments never get past the wire
    for (const { id, target, allow, why } of cases)
      if (target.startsWith('/') && !target.includes('#'))
        t.ok(allow.includes(judge(target)), `${id} ${target} (${why}): ${judge(target)}`)
  },
)

t.test('a sealed prefix matches whole segments in any spelling', async (t) => {
  for (const path of [
    '/admin',
    '/admin/',
    '/ADMIN/x',
    '/%61dmin',
    '/%2561dmin',
    '//admin',
    '//x/admin', // to new URL(target, base) the first is a host
    '///x/admin',
    '//x:1/admin/y',
    '/\\x/admin',
    '/%2fx/admin',
    '/.//x/ADMIN',
    '/./admin',
    '/x/../admin',
    '/x/%2e%2e/admin',
    '/admin;v=1/x',
    '/admin%3fx',
    '/admin.',
    '/admin%20',
    '/\\admin',
    '/%5cadmin',
    '/\uff41dmin'.normalize('NFKC'),
    '/%ef%bd%81dmin',
    '/%c5%bfecret/../admin',
    '/a/..;/admin',
    '/%u0061dmin/..;/admin'.replace('%u0061', '%25u0061'),
  ])
    t.equal(sealed(path), 'sealed', path)
  for (const path of ['/administrator', '/x/admin', '/adm', '/', '/a%2fadmin', '/x;/admin'])
    t.equal(sealed(path), 'open', path)
})

t.test('what no two servers read alike is unreadable', async (t) => {
  for (const path of [
    '/%',
    '/%zz',
    '/a%00',
    '/a%0d%0a',
    '/%c0%afadmin',
    '/%e0%80%afx',
    '/%25252525252e',
  ])
    t.equal(sealed(path), 'unreadable', path)
})

t.test('an excluded prefix matches only what has one reading', async (t) => {
  for (const path of [
    '/health',
    '/health/',
    '/health/a.b',
    '/health/%7Eada',
    '/health/caf%C3%A9.png',
  ])
    t.ok(excluded(path), path)
  for (const path of [
    '/healthz',
    '/Health',
    '/health/..',
    '/health/.',
    '/health/%2e',
    '/health//x',
    '/health;x',
    '/health/%252e',
    '/health/a%2fb',
    '/health%2fx',
    '/%68ealth',
    '/health/%ef%bc%8e%ef%bc%8e',
    '/health/x%',
  ])
    t.notOk(excluded(path), path)
})

t.test('sealing / seals everything, and no prefix seals nothing', async (t) => {
  t.equal(compileSealed(['/'])('/x'), 'sealed')
  t.equal(compileSealed(['/'])('/%78'), 'sealed')
  t.equal(compileSealed([])('/admin'), 'open')
})

t.test('paths of up to the limit of segments are read, one more is not', async (t) => {
  const path = '/a%20'.repeat(LIMITS.pathSegmentsMax)
  t.equal(sealed(path), 'open')
  t.equal(sealed(`${path}/a`), 'unreadable')
})

t.test('a prefix that could be half-matched is not taken', async (t) => {
  for (const prefix of [
    'admin',
    '/a//b',
    '/a/../b',
    '/a%20b',
    '/a;b',
    '/a?b',
    '/a#b',
    '/a b',
    '\\a',
  ])
    t.equal(normalPrefix(prefix), undefined, prefix)
  t.equal(normalPrefix('/admin/'), '/admin')
  t.equal(normalPrefix('/'), '/')
})
