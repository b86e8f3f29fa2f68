/**
 * Hashes of one password as other programs have written them: Django 5, Werkzeug 3, passlib 1.7,
 * bcrypt and argon2-cffi, each with a low cost so that the tests are quick.
 */
export const FOREIGN_PASSWORD = 'correct horse battery staple \u00e9'

export const FOREIGN_HASHES = {
  'django pbkdf2_sha256':
    'pbkdf2_sha256$20000$Zm9vYmFyc2FsdDEyMzQ1Ng$35T9ZGSq7vt45sEtUd+TESZggBebX84QOgrUK9R+o7g=',
  'django pbkdf2_sha1': 'pbkdf2_sha1$20000$Zm9vYmFyc2FsdDEyMzQ1Ng$sgVIUFP0e4hgcfuZZuE+cOVpZ7w=',
  'django argon2':
    'argon2$argon2id$v=19$m=1024,t=2,p=8$QlRzbGs1NEhrZEFwd1lzWUl5dUMzQw$MJGj1BE4zdMbkbJj37BSTlGOsTFMqUhAsMqbkWR65O8',
  'django bcrypt_sha256':
    'bcrypt_sha256$$2b$06$Zoaq6N9FgzkVDytV.naQuOJ/uGFL/X1Q5Lmk/ElfguHpyPDz0Do8S',
  'django bcrypt': 'bcrypt$$2b$06$rs0LgZMFbWdNrBLuE5Vgcuv7qHGLjwoYLTK7mz3wv8qv99MENGqL6',
  'django scrypt':
    'scrypt$1024$xPw3faPsHSTozhyZyoNM0l$8$5$4+o0HukmwpCAK0Dm+qkAdafRg1QhMEDLLIExySelWmEz6TV6eboHr32rhcz0JvBczejsY/MJHR2qlUwVthME+Q==',
  'werkzeug scrypt':
    'scrypt:1024:8:1$ePJNDamc7VJe2CJ6$cbffb65a8671a5eeb046ebbb88b480a72759d64466d05fb185838fa619fcf165ed4f8b614bc26fbf4e70d8becbb381d465002d49ae1b1b38f1e67abdae955d80',
  'werkzeug pbkdf2 sha256':
    'pbkdf2:sha256:20000$i7fogMsXmGrXKuCD$f8229fb41750e84684831209f4caaf13399485f148c30c2f85c90df49249e447',
  'werkzeug pbkdf2 sha512':
    'pbkdf2:sha512:20000$H4BadWZ4Ite5J9xO$00bab82fa2d44b0edf6d00cc50b30a7f97cf580b5c96485ad70c202a8badfe5b1987b9617a6d7482d750d8fe0ecb2d19fc1c4aa7d2d6864816351d21ed070eba',
  'passlib pbkdf2': '$pbkdf2$2000$5jynNAZA6L13jjHm/H9vrQ$HB1MP3zEIE3nBbwi9PvjRblTbcc',
  'passlib pbkdf2-sha256':
    '$pbkdf2-sha256$2000$VErJWWuNca71XstZay3l3A$bXKoGDncTLm.w1fUwWmt9IsAPP8z4oSlem.yddQQRDM',
  'passlib pbkdf2-sha512':
    '$pbkdf2-sha512$2000$RCgFQOgdAyCktDbmPKfU.g$u/wCc3j.t81/WbYtHGKL7W0WszFv61Z3YoTFjCDUTXr9xBN3Po3yKCDbNyLh1.UW3ci14JEkhECJY05vIoegVw',
  'passlib scrypt':
    '$scrypt$ln=10,r=8,p=1$bq0VQgiBkNJ6DyEkZGxNyQ$eI1uAWSZ1fVuv2GDAZ9uNK0KA8nvP6LPcCJBK3tn5Tg',
  'bcrypt 2a': '$2a$05$CFfTF3sUVEJuktxhx/giBOdYDywpCP18w3kHOTmu9kdEjdoS7sp12',
  'bcrypt 2b': '$2b$05$d32DFJIqwkd7HrcmwSjQi.YVuK9KE8zQBjNoYLpqa9F8LkFQgG.Yi',
  'bcrypt 2y': '$2y$05$d32DFJIqwkd7HrcmwSjQi.YVuK9KE8zQBjNoYLpqa9F8LkFQgG.Yi',
  'argon2-cffi argon2id':
    '$argon2id$v=19$m=2048,t=2,p=2$MDEyMzQ1Njc4OWFiY2RlZg$7g+Ar+sGPx/EmVSzB6AJ+wnVmfsxrLIFmihPKgUV+gs',
  'argon2-cffi argon2i':
    '$argon2i$v=19$m=2048,t=2,p=2$MDEyMzQ1Njc4OWFiY2RlZg$ULtTm5eJBozhnJJJLPacTAFXiApoEbEJspa/T/0W0Es',
  'argon2-cffi argon2d':
    '$argon2d$v=19$m=2048,t=2,p=2$MDEyMzQ1Njc4OWFiY2RlZg$ngiax/lqdMd3uXdGkJOx6XXVxSOUeYxhEvKsMIQEEhU',
  'PHC pbkdf2-sha256':
    '$pbkdf2-sha256$i=1000,l=32$MDEyMzQ1Njc4OWFiY2RlZg$u7E/u6S0nYfcBPOuT45rLcIC9YWuIkITunzFCq1Akow',
} as const
