import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeSingleByte, type SingleByteEncoding } from './single-byte.ts'
import { looksWestern } from './western.ts'

const western: Record<string, string> = {
  German: 'Größe;Straße\nÄpfel für Übungen;Füße\nMüller;Köln',
  French: 'prénom,ville\nHélène,Orléans\ncréée à Besançon,c’est déjà l’été\nœuvre,naïve',
  Spanish: 'año,señor\n¿Qué pasó mañana?,¡Sí!\nMálaga,Cádiz\nN.º 5,3.ª',
  Portuguese: 'código,preço\nSão Paulo,ações\nnão,opções\nBelém,João',
  Italian: 'città,perché\nForlì,può\nvirtù,è così',
  Danish: 'København,Århus\nSmørrebrød,Ærø\nRødgrød med fløde,blåbær',
  Swedish: 'Göteborg,Malmö\nÅsa,Östersund\nräksmörgås,Växjö',
  Finnish: 'Jyväskylä,Hämeenlinna\nšakki ja pöytä,äiti meni töihin ja isä lähti pääkaupunkiin tänään myös',
  Icelandic: 'Reykjavík,Þingvellir\nfjörður,Hafnarfjörður\nÞórður,kýr á ís',
  Estonian: 'Tõnu,Võru\nPärnu,jõgi\nöö,üks',
  Dutch: 'Curaçao,België\nreünie,coördinatie',
  Catalan: 'col·lecció,Barça\nGràcia,més',
  'prices and measures': 'item,price\nlamp,£5.00\ndesk,€ 20\ncable,5 µm\nfloor,3 m²\nheat,21 °C\nhalf,½',
  'English quotes': 'note\nit’s “fine” – really…\nnaïve café™',
}

const foreign: [language: string, encoding: SingleByteEncoding, text: string][] = [
  ['Russian', 'windows-1251', 'имя,город\nАнна,Москва\nИван,Тула'],
  ['Russian', 'koi8-r', 'имя,город\nАнна,Москва\nИван,Тула'],
  ['Russian', 'ibm866', 'имя,город\nАнна,Москва\nИван,Тула'],
  ['Greek', 'windows-1253', 'όνομα,πόλη\nΆννα,Αθήνα\nΓιώργος,Πάτρα'],
  ['Hebrew', 'windows-1255', 'שם,עיר\nדוד,חיפה\nרות,ירושלים'],
  ['Arabic', 'windows-1256', 'اسم,مدينة\nمحمد,القاهرة'],
  ['Polish', 'windows-1250', 'imię,miasto\nŁukasz,Łódź\nMałgorzata,Wrocław\nżółw,Kraków'],
  ['Czech', 'windows-1250', 'jméno,město\nJiří,Plzeň\nTomáš,Žďár\nkůň,příliš žluťoučký'],
  ['Hungarian', 'windows-1250', 'név,város\nGyőző,Győr\nErzsébet,Kőszeg\nfűszer,nő és férfi'],
  ['Turkish', 'windows-1254', 'isim,şehir\nAyşe,İstanbul\nÇağrı,Eskişehir\nışık,Muğla'],
  ['French of a Mac', 'macintosh', 'prénom,ville\nHélène,Orléans\ncréée à Besançon,été'],
  ['euros', 'iso-8859-15', 'item,price\nlamp,5 €\n'],
]

describe('Windows-1252 is told by its bytes', () => {
  for (const [language, text] of Object.entries(western)) {
    test(`${language} looks like it`, () => {
      assert.equal(looksWestern(encodeSingleByte(text, 'windows-1252')), true)
    })
  }
  for (const [language, encoding, text] of foreign) {
    test(`${language} in ${encoding} does not`, () => {
      assert.equal(looksWestern(encodeSingleByte(text, encoding)), false)
    })
  }

  test('UTF-8 with a damaged byte, or cut in the middle of a letter, does not', () => {
    const bytes = Buffer.from('name,city\nJosé,São Paulo\nZoë,Orléans\nAnna,Köln\n')
    assert.equal(looksWestern(Buffer.concat([bytes, Buffer.from('caf\xe9\n', 'latin1')])), false)
    assert.equal(looksWestern(Buffer.from('name\nJosé').subarray(0, -1)), false)
    assert.equal(looksWestern(Buffer.from('name,é').subarray(0, -1)), false)
  })

  test('Japanese, Chinese and Korean do not', () => {
    const byHex = {
      shiftJis: '96bc914f2c93738e730a8b9e93732c91e58de30a',
      gbk: 'd0d5c3fb2cb3c7cad00ab1b1beA92cC9CFBAA30a',
      eucKr: 'c0ccb8a72cb5b5bdc30abcadbfef2cBACEBBEA0a',
    }
    for (const [name, hex] of Object.entries(byHex)) {
      assert.equal(looksWestern(Buffer.from(hex, 'hex')), false, name)
    }
  })
})
