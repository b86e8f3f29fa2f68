/**
 * Sign-in by SAML 2.0, begun by us alone. A response comes as a form of another site, without the
 * cookies of the browser: it is verified and written down where it comes in, once, and counts for the
 * browser that is sent on from there if it is the one whose request it answers.
 */
import { hash, randomBytes } from 'node:crypto'
import { SECOND_MS, type Clock } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { findConnection } from '../../store/queries/connections.ts'
import { findSamlConnection, insertSamlAnswer, takeSamlAnswer } from '../../store/queries/saml.ts'
import type { Store } from '../../store/store.ts'
import { acsUrlOf, entityIdOf } from '../addresses.ts'
import type { ConnectionProtocol } from '../kinds.ts'
import { ProviderProblem } from '../provider-client.ts'
import { claimsOf } from './claims.ts'
import { readMessage, readResponse } from './message-gate.ts'
import { ownMetadata, requestUrl } from './own-messages.ts'
import { readAssertion } from './read-assertion.ts'
import { attributeOf } from './xml.ts'

interface SamlWorld {
  readonly store: Store
  readonly clock: Clock
  readonly baseUrl: string
}

interface Whose {
  readonly tenantId: string
  readonly connectionId: string
}

type Received =
  | { readonly kind: 'answer'; readonly state: string; readonly code: string }
  /** Nobody here has asked for it: it is worth nothing, and somebody may want to sign in. */
  | { readonly kind: 'unsolicited' }
  | { readonly kind: 'unknown' }

export interface SamlProtocol extends ConnectionProtocol {
  /** What a provider has had a browser post. */
  receive(whose: Whose, posted: string): Promise<Received>
  /** What a provider can read of this connection; undefined: there is none. */
  metadataOf(whose: Whose): Promise<string | undefined>
}

/** An id begins with no digit (XML Schema, NCName). */
const requestIdOf = (state: string) => `_${state}`
const REQUEST_ID = /^_([A-Za-z0-9_-]{20,100})$/

export function createSamlProtocol({ store, clock, baseUrl }: SamlWorld): SamlProtocol {
  const settingsOf = ({ tenantId, connectionId }: Whose) =>
    findSamlConnection(store.read, tenantId, connectionId)

  return {
    async authorizationUrl(connection, _redirectUri, { state }, { isConfirmation }) {
      const settings = await settingsOf(connection)
      if (settings === undefined) throw new ProviderProblem('the connection has no metadata')
      return requestUrl({
        id: requestIdOf(state),
        issuedAtMs: clock.nowMs(),
        ssoUrl: settings.ssoUrl,
        entityId: entityIdOf(baseUrl, connection),
        acsUrl: acsUrlOf(baseUrl, connection),
        takesAnyNameId: settings.subjectAttribute !== null,
        isConfirmation,
        privateKeyPem: settings.signsRequests ? connection.clientSecret : undefined,
      })
    },

    async receive(whose, posted) {
      const { tenantId, connectionId } = whose
      const connection = await findConnection(store.read, tenantId, connectionId)
      const settings = await settingsOf(whose)
      if (connection?.preset !== 'saml' || settings === undefined) return { kind: 'unknown' }
      const response = readResponse(readMessage(posted))
      if (attributeOf(response, 'InResponseTo') === undefined) return { kind: 'unsolicited' }
      const nowMs = clock.nowMs()
      const read = readAssertion(response, settings.certificates, {
        issuer: connection.issuer,
        audience: entityIdOf(baseUrl, whose),
        acsUrl: acsUrlOf(baseUrl, whose),
        nowMs,
      })
      const [, state] = REQUEST_ID.exec(read.inResponseTo) ?? []
      if (state === undefined) throw new ProviderProblem('the response answers no request of ours')
      const claims = claimsOf(read, settings)
      if (JSON.stringify(claims).length > LIMITS.samlClaimsCharactersMax)
        throw new ProviderProblem(
          'the assertion says too much: have the provider send fewer attributes',
        )
      const code = randomBytes(32).toString('base64url')
      const isNew = await store.changeOf(tenantId, ({ queries }) =>
        insertSamlAnswer(queries, {
          ...{ tenantId, connectionId },
          assertionHash: hashOf(read.assertionId),
          answerHash: hashOf(code),
          stateHash: hashOf(state),
          claims,
          answerUntil: nowMs + LIMITS.samlAnswerSecondsMax * SECOND_MS,
          endsAt: read.endsAt,
        }),
      )
      if (!isNew) throw new ProviderProblem('the response has been used before')
      return { kind: 'answer', state, code }
    },

    async claimsFor({ tenantId, connectionId }, _redirectUri, { code }, { state }) {
      const named = { answerHash: hashOf(code), stateHash: hashOf(state) }
      const claims = await store.changeOf(tenantId, ({ queries, nowMs }) =>
        takeSamlAnswer(queries, { tenantId, connectionId, ...named }, nowMs),
      )
      if (claims === null)
        throw new ProviderProblem('the response was used before, or is of another sign-in')
      return { claims }
    },

    async metadataOf(whose) {
      const settings = await settingsOf(whose)
      return (
        settings &&
        ownMetadata({
          entityId: entityIdOf(baseUrl, whose),
          acsUrl: acsUrlOf(baseUrl, whose),
          certificate: settings.signsRequests ? settings.ownCertificate : null,
          takesAnyNameId: settings.subjectAttribute !== null,
        })
      )
    },
  }
}

const hashOf = (text: string) => hash('sha256', text, 'base64url')
