/* The names that \p{...} takes in ECMA-262 (tables "Non-binary Unicode property aliases" and "Binary Unicode property aliases"), with the
 * values of General_Category and Script in PropertyValueAliases.txt of Unicode 17. Left out is Katakana_Or_Hiragana, which no character has
 * and no engine takes; and the properties of strings, which are for the flag v. Sorted by bytes, each with what follows it. */
#ifndef GE_RX_SYNTAX_NAMES_H
#define GE_RX_SYNTAX_NAMES_H

static const char *const syntax_properties[] = {
    "AHex}", "ASCII_Hex_Digit}", "ASCII}", "Alphabetic}", "Alpha}", "Any}", "Assigned}", "Bidi_Control}", "Bidi_C}", "Bidi_Mirrored}",
    "Bidi_M}", "CI}", "CWCF}", "CWCM}", "CWKCF}", "CWL}", "CWT}", "CWU}", "Case_Ignorable}", "Cased_Letter}", "Cased}", "Cc}", "Cf}",
    "Changes_When_Casefolded}", "Changes_When_Casemapped}", "Changes_When_Lowercased}", "Changes_When_NFKC_Casefolded}",
    "Changes_When_Titlecased}", "Changes_When_Uppercased}", "Close_Punctuation}", "Cn}", "Combining_Mark}", "Connector_Punctuation}",
    "Control}", "Co}", "Cs}", "Currency_Symbol}", "C}", "DI}", "Dash_Punctuation}", "Dash}", "Decimal_Number}",
    "Default_Ignorable_Code_Point}", "Deprecated}", "Dep}", "Diacritic}", "Dia}", "EBase}", "EComp}", "EMod}", "EPres}", "Emoji_Component}",
    "Emoji_Modifier_Base}", "Emoji_Modifier}", "Emoji_Presentation}", "Emoji}", "Enclosing_Mark}", "ExtPict}", "Extended_Pictographic}",
    "Extender}", "Ext}", "Final_Punctuation}", "Format}", "General_Category=", "Gr_Base}", "Gr_Ext}", "Grapheme_Base}", "Grapheme_Extend}",
    "Hex_Digit}", "Hex}", "IDC}", "IDSB}", "IDST}", "IDS_Binary_Operator}", "IDS_Trinary_Operator}", "IDS}", "ID_Continue}", "ID_Start}",
    "Ideographic}", "Ideo}", "Initial_Punctuation}", "Join_Control}", "Join_C}", "LC}", "LOE}", "Letter_Number}", "Letter}",
    "Line_Separator}", "Ll}", "Lm}", "Logical_Order_Exception}", "Lowercase_Letter}", "Lowercase}", "Lower}", "Lo}", "Lt}", "Lu}", "L}",
    "Mark}", "Math_Symbol}", "Math}", "Mc}", "Me}", "Mn}", "Modifier_Letter}", "Modifier_Symbol}", "M}", "NChar}", "Nd}", "Nl}",
    "Noncharacter_Code_Point}", "Nonspacing_Mark}", "No}", "Number}", "N}", "Open_Punctuation}", "Other_Letter}", "Other_Number}",
    "Other_Punctuation}", "Other_Symbol}", "Other}", "Paragraph_Separator}", "Pat_Syn}", "Pat_WS}", "Pattern_Syntax}",
    "Pattern_White_Space}", "Pc}", "Pd}", "Pe}", "Pf}", "Pi}", "Po}", "Private_Use}", "Ps}", "Punctuation}", "P}", "QMark}",
    "Quotation_Mark}", "RI}", "Radical}", "Regional_Indicator}", "SD}", "STerm}", "Script=", "Script_Extensions=", "Sc}",
    "Sentence_Terminal}", "Separator}", "Sk}", "Sm}", "Soft_Dotted}", "So}", "Space_Separator}", "Spacing_Mark}", "Surrogate}", "Symbol}",
    "S}", "Terminal_Punctuation}", "Term}", "Titlecase_Letter}", "UIdeo}", "Unassigned}", "Unified_Ideograph}", "Uppercase_Letter}",
    "Uppercase}", "Upper}", "VS}", "Variation_Selector}", "White_Space}", "XIDC}", "XIDS}", "XID_Continue}", "XID_Start}", "Zl}", "Zp}",
    "Zs}", "Z}", "cntrl}", "digit}", "gc=", "punct}", "sc=", "scx=", "space}"};

static const char *const syntax_categories[] = {
    "Cased_Letter}", "Cc}", "Cf}", "Close_Punctuation}", "Cn}", "Combining_Mark}", "Connector_Punctuation}", "Control}", "Co}", "Cs}",
    "Currency_Symbol}", "C}", "Dash_Punctuation}", "Decimal_Number}", "Enclosing_Mark}", "Final_Punctuation}", "Format}",
    "Initial_Punctuation}", "LC}", "Letter_Number}", "Letter}", "Line_Separator}", "Ll}", "Lm}", "Lowercase_Letter}", "Lo}", "Lt}", "Lu}",
    "L}", "Mark}", "Math_Symbol}", "Mc}", "Me}", "Mn}", "Modifier_Letter}", "Modifier_Symbol}", "M}", "Nd}", "Nl}", "Nonspacing_Mark}",
    "No}", "Number}", "N}", "Open_Punctuation}", "Other_Letter}", "Other_Number}", "Other_Punctuation}", "Other_Symbol}", "Other}",
    "Paragraph_Separator}", "Pc}", "Pd}", "Pe}", "Pf}", "Pi}", "Po}", "Private_Use}", "Ps}", "Punctuation}", "P}", "Sc}", "Separator}",
    "Sk}", "Sm}", "So}", "Space_Separator}", "Spacing_Mark}", "Surrogate}", "Symbol}", "S}", "Titlecase_Letter}", "Unassigned}",
    "Uppercase_Letter}", "Zl}", "Zp}", "Zs}", "Z}", "cntrl}", "digit}", "punct}"};

static const char *const syntax_scripts[] = {
    "Adlam}", "Adlm}", "Aghb}", "Ahom}", "Anatolian_Hieroglyphs}", "Arabic}", "Arab}", "Armenian}", "Armi}", "Armn}", "Avestan}", "Avst}",
    "Balinese}", "Bali}", "Bamum}", "Bamu}", "Bassa_Vah}", "Bass}", "Batak}", "Batk}", "Bengali}", "Beng}", "Berf}", "Beria_Erfe}",
    "Bhaiksuki}", "Bhks}", "Bopomofo}", "Bopo}", "Brahmi}", "Brah}", "Braille}", "Brai}", "Buginese}", "Bugi}", "Buhd}", "Buhid}", "Cakm}",
    "Canadian_Aboriginal}", "Cans}", "Carian}", "Cari}", "Caucasian_Albanian}", "Chakma}", "Cham}", "Cherokee}", "Cher}", "Chorasmian}",
    "Chrs}", "Common}", "Coptic}", "Copt}", "Cpmn}", "Cprt}", "Cuneiform}", "Cypriot}", "Cypro_Minoan}", "Cyrillic}", "Cyrl}", "Deseret}",
    "Devanagari}", "Deva}", "Diak}", "Dives_Akuru}", "Dogra}", "Dogr}", "Dsrt}", "Duployan}", "Dupl}", "Egyptian_Hieroglyphs}", "Egyp}",
    "Elbasan}", "Elba}", "Elymaic}", "Elym}", "Ethiopic}", "Ethi}", "Garay}", "Gara}", "Georgian}", "Geor}", "Glagolitic}", "Glag}",
    "Gong}", "Gonm}", "Gothic}", "Goth}", "Grantha}", "Gran}", "Greek}", "Grek}", "Gujarati}", "Gujr}", "Gukh}", "Gunjala_Gondi}",
    "Gurmukhi}", "Gurung_Khema}", "Guru}", "Hangul}", "Hang}", "Hanifi_Rohingya}", "Hani}", "Hano}", "Hanunoo}", "Han}", "Hatran}", "Hatr}",
    "Hebrew}", "Hebr}", "Hiragana}", "Hira}", "Hluw}", "Hmng}", "Hmnp}", "Hung}", "Imperial_Aramaic}", "Inherited}",
    "Inscriptional_Pahlavi}", "Inscriptional_Parthian}", "Ital}", "Javanese}", "Java}", "Kaithi}", "Kali}", "Kana}", "Kannada}",
    "Katakana}", "Kawi}", "Kayah_Li}", "Kharoshthi}", "Khar}", "Khitan_Small_Script}", "Khmer}", "Khmr}", "Khojki}", "Khoj}", "Khudawadi}",
    "Kirat_Rai}", "Kits}", "Knda}", "Krai}", "Kthi}", "Lana}", "Laoo}", "Lao}", "Latin}", "Latn}", "Lepcha}", "Lepc}", "Limbu}", "Limb}",
    "Lina}", "Linb}", "Linear_A}", "Linear_B}", "Lisu}", "Lycian}", "Lyci}", "Lydian}", "Lydi}", "Mahajani}", "Mahj}", "Makasar}", "Maka}",
    "Malayalam}", "Mandaic}", "Mand}", "Manichaean}", "Mani}", "Marchen}", "Marc}", "Masaram_Gondi}", "Medefaidrin}", "Medf}",
    "Meetei_Mayek}", "Mende_Kikakui}", "Mend}", "Merc}", "Meroitic_Cursive}", "Meroitic_Hieroglyphs}", "Mero}", "Miao}", "Mlym}", "Modi}",
    "Mongolian}", "Mong}", "Mroo}", "Mro}", "Mtei}", "Multani}", "Mult}", "Myanmar}", "Mymr}", "Nabataean}", "Nag_Mundari}", "Nagm}",
    "Nandinagari}", "Nand}", "Narb}", "Nbat}", "New_Tai_Lue}", "Newa}", "Nkoo}", "Nko}", "Nshu}", "Nushu}", "Nyiakeng_Puachue_Hmong}",
    "Ogam}", "Ogham}", "Ol_Chiki}", "Ol_Onal}", "Olck}", "Old_Hungarian}", "Old_Italic}", "Old_North_Arabian}", "Old_Permic}",
    "Old_Persian}", "Old_Sogdian}", "Old_South_Arabian}", "Old_Turkic}", "Old_Uyghur}", "Onao}", "Oriya}", "Orkh}", "Orya}", "Osage}",
    "Osge}", "Osmanya}", "Osma}", "Ougr}", "Pahawh_Hmong}", "Palmyrene}", "Palm}", "Pau_Cin_Hau}", "Pauc}", "Perm}", "Phags_Pa}", "Phag}",
    "Phli}", "Phlp}", "Phnx}", "Phoenician}", "Plrd}", "Prti}", "Psalter_Pahlavi}", "Qaac}", "Qaai}", "Rejang}", "Rjng}", "Rohg}", "Runic}",
    "Runr}", "Samaritan}", "Samr}", "Sarb}", "Saurashtra}", "Saur}", "Sgnw}", "Sharada}", "Shavian}", "Shaw}", "Shrd}", "Siddham}", "Sidd}",
    "Sidetic}", "Sidt}", "SignWriting}", "Sind}", "Sinhala}", "Sinh}", "Sogdian}", "Sogd}", "Sogo}", "Sora_Sompeng}", "Sora}", "Soyombo}",
    "Soyo}", "Sundanese}", "Sund}", "Sunuwar}", "Sunu}", "Syloti_Nagri}", "Sylo}", "Syrc}", "Syriac}", "Tagalog}", "Tagbanwa}", "Tagb}",
    "Tai_Le}", "Tai_Tham}", "Tai_Viet}", "Tai_Yo}", "Takri}", "Takr}", "Tale}", "Talu}", "Tamil}", "Taml}", "Tangsa}", "Tangut}", "Tang}",
    "Tavt}", "Tayo}", "Telugu}", "Telu}", "Tfng}", "Tglg}", "Thaana}", "Thaa}", "Thai}", "Tibetan}", "Tibt}", "Tifinagh}", "Tirhuta}",
    "Tirh}", "Tnsa}", "Todhri}", "Todr}", "Tolong_Siki}", "Tols}", "Toto}", "Tulu_Tigalari}", "Tutg}", "Ugaritic}", "Ugar}", "Unknown}",
    "Vaii}", "Vai}", "Vithkuqi}", "Vith}", "Wancho}", "Warang_Citi}", "Wara}", "Wcho}", "Xpeo}", "Xsux}", "Yezidi}", "Yezi}", "Yiii}",
    "Yi}", "Zanabazar_Square}", "Zanb}", "Zinh}", "Zyyy}", "Zzzz}"};

#endif
