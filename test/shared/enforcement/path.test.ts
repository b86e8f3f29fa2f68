import { readFileSync } from 'node:fs'
import t from 'tap'
import {
  compileExcluded,
  compileSealed,
  excludedProblem,
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
    `/health/a${'%CC%81'.repeat(30)}/b${'%CC%A7'.repeat(30)}`,
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
    // to put 1,365 of them into their order took 8 ms
    `/health/a${'%CC%81%CC%A7'.repeat(16)}`,
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

/** Of `/admin`, as something that is in wide use serves it. */
const OTHER_NAMES = [
  ...['/_next/data/b1/admin.json', '/_next/data/b1/admin/users.json', '/docs/../_next/data/b1/admin.json'],
  ...['/_next/data/b1/en/admin.json', '/_next/data/b1/de-at/admin.json', '/%5fnext/data/b.1/admin.json'], // languages of Next.js
  ...['/_next/data/b1/default/admin.json', '/_next/data/b1/pt_BR/admin.json', '/_next/data/b1/index/admin.json', '/_next/data/b1/index/de/admin.json'],
  ...['/admin.rsc', '/admin.prefetch.rsc', '/admin.segments/_tree.segment.rsc', '/admin.txt'], // Next.js' app router
  ...['/admin.data', '/admin/_.data', '/admin/__data.json', '/admin.html__data.json', '/admin/_payload.json'], // Remix, SvelteKit, Nuxt
  ...['/page-data/admin/page-data.json', '/x/../page-data/admin/page-data.json'], // Gatsby
  ...['/admin.html', '/admin.htm', '/admin.HTML', '/admin/index.html', '/admin%2ehtml', '/admin.html/'],
  ...['/admin.json', '/admin.xml', '/admin.any', '/admin.1', '/admin.do', '/admin!edit.action', '/admin.php', '/admin.php/users', '/admin.aspx/x'], // Rails, Spring, Struts
  ...['/index.php/admin', '/INDEX.PHP/ADMIN', '/public/index.php/admin', '/cgi-bin/app.cgi/admin', '/index.html/admin', '/app_dev.php/admin', '/index.php/_next/data/b/admin.json'],
  ...['/admin::$DATA', '/admin::$INDEX_ALLOCATION/x', '/admin:$i30:$INDEX_ALLOCATION/x', '/%61dmin::$index_allocation/x', '/admin:x', '/admin%3a%3a$DATA'], // NTFS
  ...['/admin.', '/admin..', '/admin%20', '/admin%20.%20', '/%20admin', '/admin.%20/x', '/ADMIN~1.HTM', '/AD3F2C~1/x'], // Windows
  ...['/(S(abc))/admin', '/adm/(S(x))in', '/(A(b)F(c))/admin/x', '/(s(x))/index.aspx/admin'], // ASP.NET without cookies
  ...['/%C3%A0dmin', '/adm%C4%B0n', '/adm%C4%B1n', '/%E0dmin', '/%C3%81DM%C3%8DN', '/a%CC%80dmin', '/%ef%bd%81dmin'], // WordPress, MySQL
  ...['/adm%C2%ADin', '/%E2%80%8Badmin', '/admin%EF%BB%BF', '/adm%E2%80%8Cin', '/%E2%84%AAx/../admin', '/x%E2%88%95..%E2%88%95admin'], // APFS, collations, best fit
] // prettier-ignore

/** What only looks like it. */
const NEIGHBOURS = [
  ...['/administrator', '/admin-guide', '/admin-guide.json', '/admin_1', '/adminx.json', '/admins/', '/my-admin.json', '/xadmin:y'],
  ...['/_next/static/b1/admin.js', '/_next/data/b1/team/admin.json', '/_next/data/b1/administrator.json', '/_next/admin.json', '/next/data/b1/admin.json'],
  ...['/page-data/team/admin/page-data.json', '/x.y/admin', '/x/admin.json', '/index.php/x/admin', '/indexx/admin', '/x/(S(y))admin', '/ad~1', '/adm~1', '/adonis~1', '/~1/admin'],
  ...['/%C3%A0dministrator', '/caf%C3%A9/admin', '/assets/app.4f2c.js', '/'],
] // prettier-ignore

t.test('a sealed page is sealed under every name that a common framework has for it', async (t) => {
  for (const path of OTHER_NAMES) t.equal(sealed(path), 'sealed', path)
  for (const path of NEIGHBOURS) t.equal(sealed(path), 'open', path)
})

t.test('a byte that is no text does not hide what the rest folds to', async (t) => {
  for (const path of [
    ...['/%C3%A0dmin/%EF%BF%BD', '/%C3%A0dmin;%EF%BF%BD', '/%EF%BC%A1dmin;%ff', '/adm%C4%B1n/%ff'],
    ...['/%ff/%2e%2e/%C3%A0dmin', '/x%EF%BC%8F%2e%2e%EF%BC%8Fadmin/%EF%BF%BD', '/%25C3%25A0dmin/%25ff'],
    ...['/%ff/%2e%2e/%25C3%25A0dmin', '/%25ff/%2e%2e/%C3%A0dmin', '/%E0dm%C3%ADn', '/%E0dmin/%EF%BF%BD'],
    ...['/adm%ffin', '/admin%80', '/admin%EF%BF%BD', '/admin%ff/x', '/admin%85'],
  ]) t.equal(sealed(path), 'sealed', path) // prettier-ignore
  for (const path of ['/%ff', '/caf%E9/%ff/admin', '/%C3%A0dministrator/%ff', '/%82%a0/%EF%BF%BD'])
    t.equal(sealed(path), 'open', path)
  for (const path of ['/admin%C2%85', '/x/%c2%9f', '/x/%25C2%2585', '/%C2%85admin', '/%ff/%C2%85'])
    t.equal(sealed(path), 'unreadable', path)
})

t.test('other names are known for pages that lie deeper, and for names with dots', async (t) => {
  const deep = compileSealed([
    '/team/admin',
    '/api/v1',
    '/wp-login.php',
    '/.git',
    '/administration',
  ])
  for (const path of [
    ...['/docs/../_next/data/b/team/admin.json', '/team/_next/data/b/admin.json', '/team/index.php/admin'],
    ...['/team.php/admin', '/index.php/team/admin', '/page-data/team/admin/page-data.json', '/team/page-data/admin/x'],
    ...['/api/v1.json', '/api/v1.1', '/api.cgi/v1/x', '/wp-login.php/x', '/wp-login.php.bak', '/.git.zip', '/.git/config'],
    ...['/ADMINI~1', '/ADMIN~10/x', '/ADMINI~2.ASP', '/team/ADMIN~1.HTM'],
  ]) t.equal(deep(path), 'sealed', path) // prettier-ignore
  for (const path of [
    ...['/api/v1.1/users', '/api/v10', '/team', '/team/administrator.json', '/wp-login', '/admin', '/git', '/ADMINS~1'],
    ...['/_next/data/b/admin.json', '/.gitignore', '/api/v2'],
  ]) t.equal(deep(path), 'open', path) // prettier-ignore
})

t.test('segments that make a path be read in one more way are counted', async (t) => {
  const programs = '/a.php'.repeat(LIMITS.pathOddSegmentsMax)
  t.equal(sealed(`${programs}/x/admin`), 'open')
  t.equal(sealed(`${programs}/admin`), 'sealed')
  t.equal(sealed(`${programs}/a.php/x/admin`), 'unreadable')
  t.equal(sealed('/abcdef~1'.repeat(LIMITS.pathOddSegmentsMax + 1)), 'unreadable')
})

t.test('a long path has fewer readings', async (t) => {
  // four readings, of 20 characters more than four times as many
  const readFourTimes = (count: number) => sealed(`/${'a'.repeat(count)}%252541`)
  const most = (LIMITS.pathReadCharactersMax - 20) / 4
  t.equal(readFourTimes(most), 'open')
  t.equal(readFourTimes(most + 1), 'unreadable')
})

t.test('comparisons with sealed prefixes are counted, however many begin alike', async (t) => {
  // none of `/a.x0` … is what an `/a` names, and each is held against it
  const alike = Array.from({ length: 32 }, (_item, at) => `/a.x${at}`)
  const asMany = `/aaaaaaa~1/..${'/a'.repeat(LIMITS.pathComparisonsMax / alike.length)}`
  t.equal(compileSealed(alike)(asMany), 'open')
  t.equal(compileSealed([...alike, '/aaaaaaa~1.x'])(asMany), 'unreadable', 'one more')
  t.equal(compileSealed(alike)(`${asMany}/a.x31`), 'unreadable')
  t.equal(compileSealed(alike)('/aaaaaaa~1/../a/a/a.x31'), 'sealed')
})

t.test('a path is held against all sealed prefixes once, wherever it may begin', async (t) => {
  const { startsWith } = String.prototype
  let comparisons = 0
  t.teardown(() => void (String.prototype.startsWith = startsWith))
  String.prototype.startsWith = function (...given) {
    comparisons++
    return startsWith.apply(this, given)
  }
  const many = compileSealed(Array.from({ length: 200 }, (_item, at) => `/sealed-${at}/a/b`))
  for (const segment of ['/aaaaaaa~1', '/~1', '/sealed-1', '/a.php/~1'])
    t.not(many(`/..${segment.repeat(250).slice(0, 2500)}/%25252525e9%e9a%e9`), 'sealed')
  // of each of four paths that have eight readings each
  t.ok(comparisons <= 4 * 8 * 2 * LIMITS.pathComparisonsMax, `${comparisons} comparisons`)
})

t.test(
  'bytes that are no text have several readings, of which only so many are tried',
  async (t) => {
    const foreign = '/%ffa'.repeat(LIMITS.pathForeignRunsMax)
    t.equal(sealed(foreign), 'open')
    t.equal(sealed(`${foreign}%ff`), 'unreadable')
    t.ok(excluded(`/health/${foreign.slice(1)}`))
    t.notOk(excluded(`/health/${foreign.slice(1)}%ff`))
    // 1 + 1 + 2 readings, and 1 + 2 + 6 of them
    t.equal(sealed('/100%25ff.png'), 'open')
    t.equal(LIMITS.pathReadingsMax, 8)
    t.equal(sealed('/%ffa%25ffa'), 'unreadable')
  },
)

t.test(
  'chunks of dynamic routes, and ordinary marks in names, are below an excluded prefix',
  async (t) => {
    for (const name of [
      'app/blog/%5Bslug%5D/page-1.js',
      'app/[...all]/page.js',
      'R%26D.pdf',
      'a%3Ab&c',
    ])
      t.ok(excluded(`/health/${name}`), name)
    t.equal(normalPrefix('/blog/[slug]'), undefined, 'as a prefix it would be half-matched')
  },
)

t.test('an excluded prefix does not open what pages say of themselves below it', async (t) => {
  for (const [prefix, open, shut] of [
    ['/_next', '/_next/static/x.js', '/_next/data/b/admin.json'],
    ['/_next', '/_next/static/', '/_next/image'],
    ['/docs/_next', '/docs/_next/static/x.js', '/docs/_next/data/b/admin.json'],
    ['/_app', '/_app/immutable/x.js', '/_app/remote/abc/list'],
    ['/_app', '/_app/version.json', '/_app'],
    ['/index.php', '/index.php', '/index.php/admin'],
    ['/page-data', undefined, '/page-data/admin/page-data.json'],
    ['/_next/data', undefined, '/_next/data/b/admin.json'],
  ] as const) {
    const matches = compileExcluded([prefix])
    if (open !== undefined) t.ok(matches(open), `${prefix}: ${open}`)
    t.notOk(matches(shut), `${prefix}: ${shut}`)
    t.notOk(matches(shut.replace('data', '%64ata')), `${prefix}: ${shut} with an escape`)
    t.match(excludedProblem(prefix), prefix)
  }
  t.match(excludedProblem('/docs/_next'), 'use /docs/_next/static instead')
  for (const prefix of ['/_next/static', '/index.html', '/webhook.php', '/', '/_nuxt', '/nextdata'])
    t.equal(excludedProblem(prefix), undefined, prefix)
  t.ok(compileExcluded(['/'])('/docs/_next/data/b/guide.json'), 'all is open')
})

t.test('below an excluded prefix no other page is opened', async (t) => {
  const open = compileExcluded(['/public', '/hook.php'])
  for (const path of [
    ...['/public/index.php', '/public/x.php', '/public/a/X.CGI', '/public/index.html', '/public/x.y/a', '/public/(a)/b_c', '/public'],
    ...['/public/v1.2/next/data', '/public/_next/static/x.js', '/public/caf%C3%A9/x.php', '/public/%E9.png', '/hook.php', '/hook.php/x'],
  ]) t.ok(open(path), path) // prettier-ignore
  for (const path of [
    ...['/public/index.php/private/report', '/public/app.cgi/x', '/public/page-data/x/page-data.json', '/public/_next/data/b/x.json'],
    ...['/public/(S(x))/a', '/public/%28S(x))/a', '/public/INDEX.PHP/x', '/public/a/index.ph%70/x', '/public/x.php%20/x', '/public/x.php/'],
    ...['/public/%70age-data/x', '/public/%5fnext/data/b/x.json', '/public/x.p%CC%80hp/%E9', '/public/.%ff.', '/public/.%ff/x'],
    ...['/hook.php/index.php/x'],
  ]) t.notOk(open(path), path) // prettier-ignore
})

t.test('what reads any image for anybody is not excluded', async (t) => {
  for (const prefix of ['/_next/image', '/a/_next/image', '/_vercel/image', '/_image', '/_ipx', '/_ipx/w_200', '/.netlify/images']) {
    t.match(excludedProblem(prefix), `folder of the public images: ${prefix} serves`)
    t.notOk(compileExcluded([prefix])(prefix), prefix)
    t.notOk(compileExcluded([prefix])(`${prefix}/w_200/private/a.png`), prefix)
  } // prettier-ignore
  for (const prefix of ['/images', '/_imageset', '/_next/static'])
    t.equal(excludedProblem(prefix), undefined, prefix)
})
