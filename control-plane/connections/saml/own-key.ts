/**
 * The key by which we sign requests of one connection, and a certificate to carry it: providers take a
 * key in no other form. They know it from our metadata and ask nobody about it, so it ends never.
 */
import { generateKeyPair, randomBytes, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { BIT_STRING, INTEGER, OBJECT_ID, SET, sequence, tagged } from '../../../shared/der.ts'
import { LIMITS } from '../../../shared/limits.ts'

const generate = promisify(generateKeyPair)
/** sha256WithRSAEncryption (RFC 4055, section 5), with the NULL that belongs to it */
const RSA_SHA256 = sequence(
  tagged(OBJECT_ID, Buffer.from('2a864886f70d01010b', 'hex')),
  tagged(0x05),
)
/** CN=sign-in-service */
const NAME = sequence(
  tagged(
    SET,
    sequence(
      tagged(OBJECT_ID, Buffer.from('550403', 'hex')),
      tagged(0x0c, Buffer.from('sign-in-service')),
    ),
  ),
)
const time = (text: string) => tagged(0x18, Buffer.from(text))

export async function createOwnKey() {
  const { privateKey, publicKey } = await generate('rsa', {
    modulusLength: LIMITS.signingKeyBitsMin,
  })
  const toBeSigned = sequence(
    tagged(0xa0, tagged(INTEGER, Buffer.of(2))), // version 3
    tagged(INTEGER, Buffer.concat([Buffer.of(1), randomBytes(15)])),
    RSA_SHA256,
    NAME,
    sequence(time('20200101000000Z'), time('99991231235959Z')),
    NAME,
    publicKey.export({ format: 'der', type: 'spki' }),
  )
  const signature = sign('sha256', toBeSigned, privateKey)
  const der = sequence(
    toBeSigned,
    RSA_SHA256,
    tagged(BIT_STRING, Buffer.concat([Buffer.of(0), signature])),
  )
  return {
    certificate: der.toString('base64'),
    privateKeyPem: String(privateKey.export({ format: 'pem', type: 'pkcs8' })),
  }
}
