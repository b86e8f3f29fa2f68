/**
 * For applications behind the edge (gateway and connector mode): believes nothing but a signature.
 * A request carries its user in `X-Service-Claims`, signed with the tenant's key; whatever does not
 * verify is refused, and so is who brings none, unless the service says that the tenant is not live
 * (`before-live.ts`). Answers the platform's probes on the way. A token that was seen before costs
 * no signature check; its times are judged every time.
 */
import { compileExcluded, pathOf } from '../../../shared/enforcement/path.ts'
import { TokenProofs, type TokenProof } from '../../../shared/enforcement/token-proofs.ts'
import { judgeTimes, proveToken, type TokenTrust } from '../../../shared/enforcement/token.ts'
import type { TimeReason, TokenReason } from '../../../shared/reasons.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { createBeforeLive, judgeStatement } from './before-live.ts'
import { environmentWithKeyFile } from './config.ts'
import {
  jsonAnswer,
  probeAnswer,
  REQUEST_INVALID,
  type Guard,
  type GuardedRequest,
  type Identity,
  type Outcome,
} from './guard.ts'
import { judgeProbe } from './probe.ts'
import { createPublicKeys, type Keys } from './public-keys.ts'
import { targetOf } from './target.ts'
import type { VerifyClaimsOptions } from './published.ts'
import { readVerifyClaimsOptions } from './verify-claims-options.ts'

type Reason = TokenReason | TimeReason | 'no_claims' | 'claims_repeated'

/** The edge enforces the tenant's own maximum; a token's `exp` is the bound here. */
const SESSION_SECONDS_MAX = Number.MAX_SAFE_INTEGER / 2
const NO_COOKIES: readonly string[] = []

export function createClaimsGuard(options: VerifyClaimsOptions = {}): Guard {
  const settings = readVerifyClaimsOptions(options, environmentWithKeyFile())
  const { issuer, audience, nowMs } = settings
  const isExcluded = compileExcluded(settings.excluded)
  const proofs = new TokenProofs<TokenProof>(
    LIMITS.verifyCacheEntriesMax,
    proveToken,
    (proof) => proof,
  )
  const publicKeys = createPublicKeys({
    ...settings,
    url: settings.publicKeyUrl,
    file: settings.publicKeyFile,
  })
  let trust: TokenTrust | undefined

  /** The proofs of a key set end with it. */
  function trustIn(keys: Keys): TokenTrust {
    if (trust?.keys !== keys) trust = { issuer, audience, keys }
    return trust
  }

  function judgeToken(token: string, keys: Keys): TokenProof | TokenReason | TimeReason {
    const proof = proofs.prove(token, trustIn(keys))
    if (typeof proof === 'string') return proof
    return judgeTimes(proof.claims, nowSeconds(), SESSION_SECONDS_MAX) ?? proof
  }

  const nowSeconds = () => Math.floor(nowMs() / 1000)

  /** With the keys that are known, or once more with those that are found on another look. */
  function withKeys<Verdict, Conclusion>(
    judge: (keys: Keys) => Verdict,
    isKeyUnknown: (verdict: Verdict) => boolean,
    conclude: (verdict: Verdict | 'keys_unavailable') => Conclusion,
  ): Conclusion | Promise<Conclusion> {
    const judgeWith = (keys: Keys): Conclusion | Promise<Conclusion> => {
      const verdict = judge(keys)
      const looking = isKeyUnknown(verdict) ? publicKeys.lookAgain() : keys
      if (!(looking instanceof Promise)) return conclude(verdict)
      return looking.then(
        (found) => conclude(judge(found)),
        () => conclude(verdict),
      )
    }
    const keys = publicKeys.current()
    if (keys !== undefined) return judgeWith(keys)
    return publicKeys.load().then(judgeWith, () => conclude('keys_unavailable'))
  }

  function judgeClaims(token: string, target: string): Outcome | Promise<Outcome> {
    return withKeys(
      (keys) => judgeToken(token, keys),
      (verdict) => verdict === 'key_unknown',
      (verdict) => {
        if (typeof verdict === 'object') return forward(target, verdict)
        if (isExcluded(pathOf(target))) return forward(target, undefined)
        return verdict === 'keys_unavailable' ? UNAVAILABLE : refusal(settings.tenantId, verdict)
      },
    )
  }

  function answerProbe(probe: string): Outcome | Promise<Outcome> {
    return withKeys(
      (keys) => judgeProbe(probe, trustIn(keys), nowSeconds()),
      (verdict) => verdict === 'key_unknown',
      (verdict) => (verdict === 'keys_unavailable' ? UNAVAILABLE : probeAnswer(verdict)),
    )
  }

  const beforeLive =
    settings.protectionUrl === undefined
      ? undefined
      : createBeforeLive({ ...settings, url: settings.protectionUrl, opens })

  function opens(statement: string): boolean | Promise<boolean> {
    return withKeys(
      (keys) => judgeStatement(statement, trustIn(keys), nowSeconds()),
      (verdict) => verdict === 'key_unknown',
      (verdict) => {
        if (verdict === 'on' || verdict === 'pass-through') return verdict === 'pass-through'
        throw new Error(`its statement could not be verified (${verdict})`)
      },
    )
  }

  /** Nobody says who this is: an excluded path, a visitor before go-live, or one to be refused. */
  function judgeUnsigned(target: string): Outcome | Promise<Outcome> {
    if (isExcluded(pathOf(target))) return forward(target, undefined)
    const conclude = (isOpen: boolean) =>
      isOpen ? forward(target, undefined) : refusal(settings.tenantId, 'no_claims')
    const isOpen = beforeLive?.isOpen() ?? false
    return typeof isOpen === 'boolean' ? conclude(isOpen) : isOpen.then(conclude)
  }

  return {
    judge(request) {
      const target = targetOf(request)
      if (target === undefined) return REQUEST_INVALID
      const { probes, tokens, probe, token } = readLines(request)
      if (probes > 1) return probeAnswer('refused')
      if (probes === 1) return answerProbe(probe)
      if (tokens === 1) return judgeClaims(token, target)
      if (tokens === 0) return judgeUnsigned(target)
      if (isExcluded(pathOf(target))) return forward(target, undefined)
      return refusal(settings.tenantId, 'claims_repeated')
    },
    ready: () => publicKeys.ready(),
    async close() {
      publicKeys.close()
      beforeLive?.close()
    },
  }
}

const CLAIMS_NAME = 'x-service-claims'
const PROBE_NAME = 'x-service-probe'

/** Names as the edge writes them, in any case; other spellings are nobody's. */
function readLines({ rawHeaders }: GuardedRequest) {
  let tokens = 0
  let probes = 0
  let token = ''
  let probe = ''
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === CLAIMS_NAME.length && name.toLowerCase() === CLAIMS_NAME) {
      tokens++
      token = rawHeaders[at + 1]!
    } else if (name.length === PROBE_NAME.length && name.toLowerCase() === PROBE_NAME) {
      probes++
      probe = rawHeaders[at + 1]!
    }
  }
  return { tokens, probes, token, probe }
}

function forward(target: string, identity: Identity | undefined): Outcome {
  return { kind: 'forward', target, identity, isForeignPage: false, privateCookies: NO_COOKIES }
}

const UNAVAILABLE = jsonAnswer(
  503,
  {
    error: 'keys_unavailable',
    detail: 'The keys for checking sessions are unavailable right now. Try again shortly.',
  },
  ['Retry-After', '5'],
)

function refusal(tenantId: string, reason: Reason): Outcome {
  const body = {
    error: 'claims_refused',
    reason,
    detail: 'This request carries no valid sign-in. Open the application at its public address.',
  }
  return jsonAnswer(401, body, ['WWW-Authenticate', `Session realm="${tenantId}"`])
}
