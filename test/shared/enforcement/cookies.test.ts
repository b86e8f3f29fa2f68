import t from 'tap'
import {
  flowCookies,
  readCookie,
  REPEATED,
  withoutServiceCookies,
} from '../../../shared/enforcement/cookies.ts'

t.test('a cookie is read by its exact name, undecoded', async (t) => {
  t.equal(readCookie('a=1; service_session=x.y.z; b=2', 'service_session'), 'x.y.z')
  t.equal(readCookie('service_session=x', 'service_session'), 'x')
  t.equal(readCookie('service_session=', 'service_session'), '')
  t.equal(readCookie('a=1;service_session=x ;b', 'service_session'), 'x')
  for (const cookies of [
    'xservice_session=x',
    'service_session2=x',
    'Service_Session=x',
    'service%5Fsession=x',
    'a=service_session=x',
    'service_session',
    'a=b service_session=x',
    '',
  ])
    t.equal(readCookie(cookies, 'service_session'), undefined, cookies)
})

t.test('two cookies of one name decide nothing', async (t) => {
  t.equal(readCookie('service_session=a; service_session=b', 'service_session'), REPEATED)
  t.equal(readCookie('service_session=a;x=1;  service_session=', 'service_session'), REPEATED)
})

t.test('the application gets the session cookie and none of our others', async (t) => {
  const cookies =
    'a=1; service_session=s; service_seen=1; service_hops=2; service_flow_x=3; b=service_seen'
  t.equal(withoutServiceCookies(cookies), 'a=1; service_session=s; b=service_seen')
  t.equal(withoutServiceCookies('service_seen=1'), '')
  t.equal(withoutServiceCookies('a="1";  b'), 'a="1";  b')
})

t.test('flow cookies come oldest first', async (t) => {
  const names = flowCookies('service_flow_b=2; x=1; service_flow_a=1').map(({ name }) => name)
  t.same(names, ['service_flow_a', 'service_flow_b'])
})
