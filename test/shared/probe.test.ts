import t from 'tap'
import {
  carriedProof,
  checkPass,
  isCarriedProof,
  makePass,
  PROBE_SECONDS,
  probeKeyOf,
} from '../../shared/probe.ts'

const KEY = probeKeyOf('a client secret')
const PROBE = 'header.claims.signature'
const NOW = 1_800_000_000

void t.test('a pass is good for its probe, for a minute, under its secret', (t) => {
  const pass = makePass(KEY, PROBE, NOW)
  t.match(pass, /^t=1800000000,v1=[0-9a-f]{64}$/)
  for (const at of [NOW, NOW + PROBE_SECONDS, NOW - PROBE_SECONDS])
    t.equal(checkPass(KEY, pass, PROBE, at), true)
  for (const at of [NOW + PROBE_SECONDS + 1, NOW - PROBE_SECONDS - 1])
    t.equal(checkPass(KEY, pass, PROBE, at), false)
  t.equal(checkPass(KEY, pass, `${PROBE}x`, NOW), false)
  t.equal(checkPass(probeKeyOf('another'), pass, PROBE, NOW), false)
  t.equal(checkPass(KEY, makePass(KEY, '', NOW), '', NOW), false)
  t.end()
})

void t.test('what is not exactly a pass is none', (t) => {
  const pass = makePass(KEY, PROBE, NOW)
  const [, mac = ''] = pass.split('v1=')
  for (const wrong of [
    '',
    'x',
    mac,
    `v1=${mac}`,
    `t=${NOW}`,
    `t=${NOW},v1=`,
    `t=${NOW},v1=${mac.toUpperCase()}`,
    `t=${NOW},v1=${mac}0`,
    `t=${NOW},v1=${mac.slice(1)}`,
    `t=${NOW + 1},v1=${mac}`,
    `t=0${NOW},v1=${mac}`,
    ` ${pass}`,
    `${pass}\n`,
    `${pass}, ${pass}`,
    `t=NaN,v1=${mac}`,
    `v1=${mac},t=${NOW}`,
  ])
    t.equal(checkPass(KEY, wrong, PROBE, NOW), false, JSON.stringify(wrong))
  t.end()
})

void t.test('the proof of carrying is neither the pass nor made without the secret', (t) => {
  const proof = carriedProof(KEY, PROBE)
  t.equal(isCarriedProof(KEY, PROBE, proof), true)
  t.notOk(makePass(KEY, PROBE, NOW).includes(proof))
  for (const wrong of [
    '',
    proof.toUpperCase(),
    `${proof}0`,
    carriedProof(KEY, 'x'),
    carriedProof(probeKeyOf('x'), PROBE),
  ])
    t.equal(isCarriedProof(KEY, PROBE, wrong), false)
  t.end()
})
