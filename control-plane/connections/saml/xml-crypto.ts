/**
 * As much of xml-crypto and xmldom as is used here, loaded when somebody needs it: few tenants have SAML.
 * Their own types are not taken, since they declare all of a browser for the whole program.
 */
import { createRequire } from 'node:module'
import type { KeyObject } from 'node:crypto'

export interface DomElement {
  readonly nodeType: number
  readonly namespaceURI: string | null
  readonly localName: string | null
  readonly firstChild: DomElement | null
  readonly nextSibling: DomElement | null
}

interface Parser {
  parseFromString(xml: string, mediaType: string): { readonly documentElement: DomElement | null }
}

interface Algorithm {
  getAlgorithmName(): string
}

export interface HashAlgorithm extends Algorithm {
  getHash(xml: string): string
}

export interface SignatureAlgorithm extends Algorithm {
  getSignature(text: string, key: string): string
  verifySignature(text: string, key: string | KeyObject, value: string): boolean
}

/** By the name that a document uses. */
type Table<Of> = Record<string, new () => Of>

export interface XmlSigner {
  idAttributes: string[]
  getCertFromKeyInfo: (keyInfo: unknown) => string | null
  CanonicalizationAlgorithms: Table<Algorithm>
  HashAlgorithms: Table<HashAlgorithm>
  SignatureAlgorithms: Table<SignatureAlgorithm>
  loadSignature(signature: DomElement): void
  checkSignature(xml: string): boolean
  /** The canonical bytes of what was signed, once it is verified. */
  getSignedReferences(): string[]
  addReference(reference: {
    readonly xpath: string
    readonly transforms: readonly string[]
    readonly digestAlgorithm: string
  }): void
  computeSignature(
    xml: string,
    options: { readonly location: { readonly reference: string; readonly action: string } },
  ): void
  getSignedXml(): string
}

interface SignerSettings {
  readonly publicCert?: string
  readonly privateKey?: string
  readonly signatureAlgorithm?: string
  readonly canonicalizationAlgorithm?: string
  readonly getKeyInfoContent?: () => string | null
}

interface XmlCrypto {
  readonly SignedXml: new (settings: SignerSettings) => XmlSigner
  readonly DOMParser: new (settings: {
    readonly errorHandler: Readonly<Record<'warning' | 'error' | 'fatalError', () => void>>
  }) => Parser
}

const load = createRequire(import.meta.url)

export const xmlCrypto = (): XmlCrypto => ({
  ...(load('xml-crypto') as Pick<XmlCrypto, 'SignedXml'>),
  ...(load('@xmldom/xmldom') as Pick<XmlCrypto, 'DOMParser'>),
})
