/**
 * Signatures, by xml-crypto with tables of our own: what is not in them cannot be asked for, and no key
 * is tried but those of the provider's metadata, whatever a message says of keys. What comes out are the
 * bytes that were signed; nothing else of the message is worth anything.
 */
import { createHash, verify, type KeyObject } from 'node:crypto'
import { ProviderProblem } from '../provider-client.ts'
import { publicKeyOf } from './certificates.ts'
import type { GatedMessage } from './message-gate.ts'
import { DIGEST_METHODS, DSIG, ENVELOPED, EXCLUSIVE, SAML, SIGNATURE_METHODS } from './names.ts'
import { xmlCrypto, type DomElement, type XmlSigner } from './xml-crypto.ts'

/**
 * The canonical bytes of what is signed: of the response where that is, else of its assertion. Where
 * both are, both have to hold.
 */
export function verifiedBytesOf(
  { source, isResponseSigned, isAssertionSigned }: GatedMessage,
  certificates: readonly string[],
): { readonly xml: string; readonly isResponse: boolean } {
  const { DOMParser, SignedXml } = xmlCrypto()
  const document = new DOMParser({
    errorHandler: {
      warning: () => undefined,
      error: () => failed(),
      fatalError: () => failed(),
    },
  }).parseFromString(source, 'text/xml')
  const response = document.documentElement ?? undefined
  const assertion = childCalled(response, SAML, 'Assertion')
  const keys = certificates.map(publicKeyOf)

  function bytesOf(signed: DomElement | undefined): string {
    const signature = childCalled(signed, DSIG, 'Signature')
    if (signed === undefined || signature === undefined) return failed()
    const checker = new SignedXml({ publicCert: 'pinned' })
    useOurTables(checker, keys)
    try {
      checker.loadSignature(signature)
      if (!checker.checkSignature(source)) return failed()
    } catch {
      return failed()
    }
    const [bytes, other] = checker.getSignedReferences()
    return bytes === undefined || other !== undefined ? failed() : bytes
  }

  const ofAssertion = isAssertionSigned ? bytesOf(assertion) : undefined
  const ofResponse = isResponseSigned ? bytesOf(response) : undefined
  if (ofResponse !== undefined) return { xml: ofResponse, isResponse: true }
  return { xml: ofAssertion ?? failed(), isResponse: false }
}

function failed(): never {
  throw new ProviderProblem(
    'the signature does not hold: it is not by a certificate of the metadata, or something was changed',
  )
}

function useOurTables(checker: XmlSigner, keys: readonly KeyObject[]) {
  checker.idAttributes = ['ID']
  checker.getCertFromKeyInfo = () => null
  const { [ENVELOPED]: enveloped, [EXCLUSIVE]: exclusive } = checker.CanonicalizationAlgorithms
  if (enveloped === undefined || exclusive === undefined) throw new Error('xml-crypto has changed')
  checker.CanonicalizationAlgorithms = { [ENVELOPED]: enveloped, [EXCLUSIVE]: exclusive }
  checker.HashAlgorithms = {}
  for (const [name, hash] of Object.entries(DIGEST_METHODS))
    checker.HashAlgorithms[name] = class {
      getAlgorithmName = () => name
      getHash = (xml: string) => createHash(hash).update(xml, 'utf8').digest('base64')
    }
  checker.SignatureAlgorithms = {}
  for (const [name, { hash, key: type }] of Object.entries(SIGNATURE_METHODS)) {
    const ofKind = keys.filter(({ asymmetricKeyType }) => asymmetricKeyType === type)
    checker.SignatureAlgorithms[name] = class {
      getAlgorithmName = () => name
      getSignature = failed
      /** By any key of the metadata, and by none that it is given. */
      verifySignature = (text: string, _given: unknown, value: string) =>
        ofKind.some((key) => isSigned(hash, text, key, value))
    }
  }
}

/** XML Signature writes ECDSA as two numbers (RFC 4051, section 2.3.6); RSA does not ask. */
const isSigned = (hash: string, text: string, key: KeyObject, value: string) =>
  verify(
    hash,
    Buffer.from(text),
    { key, dsaEncoding: 'ieee-p1363' },
    Buffer.from(value, 'base64'),
  )

function childCalled(parent: DomElement | undefined, namespace: string, name: string) {
  for (let one = parent?.firstChild ?? null; one !== null; one = one.nextSibling)
    if (one.nodeType === 1 && one.namespaceURI === namespace && one.localName === name) return one
  return undefined
}
