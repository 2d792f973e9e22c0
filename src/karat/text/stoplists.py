"""Stop words of some languages: words that make no keyphrase.

The English ones are the words that pke leaves out, so that its candidates are the same; the others are the articles,
pronouns, prepositions, conjunctions, auxiliaries and common adverbs of the language.
"""

from __future__ import annotations

from functools import cache

_CONTRACTED = "n't 'd 'll 'm 're 's 've"

_WORDS = {
    "english": """
a about above across after afterwards again against all almost alone along already also although always am among
amongst amount an and another any anyhow anyone anything anyway anywhere are around as at back be became because become
becomes becoming been before beforehand behind being below beside besides between beyond both bottom but by ca call can
cannot could did do does doing done down due during each eight either eleven else elsewhere empty enough even ever every
everyone everything everywhere except few fifteen fifty first five for former formerly forty four from front full
further get give go had has have he hence her here hereafter hereby herein hereupon hers herself him himself his how
however hundred i if in indeed into is it its itself just keep last latter latterly least less made make many may me
meanwhile might mine more moreover most mostly move much must my myself name namely neither never nevertheless next nine
no nobody none noone nor not nothing now nowhere of off often on once one only onto or other others otherwise our ours
ourselves out over own part per perhaps please put quite rather re really regarding same say see seem seemed seeming
seems serious several she should show side since six sixty so some somehow someone something sometime sometimes
somewhere still such take ten than that the their them themselves then thence there thereafter thereby therefore therein
thereupon these they third this those though three through throughout thru thus to together too top toward towards
twelve twenty two under unless until up upon us used using various very via was we well were what whatever when whence
whenever where whereafter whereas whereby wherein whereupon wherever whether which while whither who whoever whole whom
whose why will with within without would yet you your yours yourself yourselves
""",
    "french": """
à afin ai aie aient ait ainsi alors après as au aucun aucune aujourd'hui aura aurait auront aussi autant autour autre
autres aux auxquelles auxquels avaient avait avant avec avez avoir avons ayant beaucoup bien c car ce ceci cela celle
celle-ci celles celui celui-ci cependant certain certaine certaines certains ces cet cette ceux ceux-ci chacun chacune
chaque chez ci comme comment contre d dans de dedans dehors déjà depuis derrière des dès desquelles desquels dessous
dessus deux devant devrait doit doivent donc dont du duquel durant elle elles en encore enfin entre envers es est et
étaient étais était étant été être eu eut eux font fut grâce hors il ils j jamais je jusqu jusque l la là laquelle le
lequel les lesquelles lesquels leur leurs lors lorsqu lorsque lui m ma mais malgré me même mêmes mes mieux mis moi
moins mon n ne ni non nos notre nous on ont or ou où outre par parce parfois parmi pas pendant peu peut peuvent plus
plusieurs plutôt pour pourquoi pourrait près presque puis puisque qu quand quant que quel quelle quelles quels quelque
quelques qui quoi rien s sa sans sauf se selon sera serait seront ses seulement si sien sienne soient soit sommes son
sont sous souvent suis sur t ta tandis tant te tel telle telles tels tes toi ton toujours tous tout toute toutefois
toutes très trois trop tu un une vers via voici voilà vos votre vous y
""",
    "german": """
ab aber alle allem allen aller alles als also am an andere anderem anderen anderer anderes ans auch auf aus außer
außerdem bei beide beiden beim bereits bevor bin bis bist bzw da dabei dadurch dafür dagegen daher dahin damit danach
daneben dann daran darauf daraus darf darin darüber darum darunter das dass daß davon dazu dein deine deinem deinen
deiner dem den denen denn dennoch der deren des deshalb dessen desto dich die dies diese diesem diesen dieser dieses
dir doch dort du durch dürfen ebenso eher ein eine einem einen einer eines einige einigen einiger einmal entweder er
erst es etwa etwas euch euer eure falls fast für ganz gar gegen gegenüber gibt hab habe haben hat hatte hatten hätte
hätten hier hierbei hierzu hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im immer in indem innerhalb
ins ist ja je jede jedem jeden jeder jedes jedoch jene jenem jenen jener jenes jetzt kann kaum kein keine keinem
keinen keiner können könnte könnten man manche mancher mehr mehrere mehreren mein meine meinem meinen meiner meist
mich mir mit mittels möchte möglichst muss muß müssen musste nach nachdem neben nicht nichts nie noch nun nur ob
oberhalb obwohl oder oft ohne per pro schon sehr sein seine seinem seinen seiner seines seit seitdem selbst sich sie
sind so sobald sodass sogar solch solche solchen solcher soll sollen sollte sollten somit sondern sonst sowie sowohl
statt stets trotz trotzdem über um und uns unser unsere unserem unseren unserer unter unterhalb viel viele vielen
vieler vom von vor wann war wäre wären waren warum was wegen weil weitere weiteren welche welchem welchen welcher
welches wenig wenige wenn wer werde werden wie wieder will wir wird wo wobei wodurch wollen worden wurde würde wurden
würden zu zum zur zwar zwei zwischen
""",
    "spanish": """
a acerca además ahora al algo algún alguna algunas alguno algunos allí ambos ante antes aquel aquella aquellas aquello
aquellos aquí así aún aunque bajo bastante bien cada casi como cómo con contra cual cuál cuales cualquier cuando
cuándo cuanto cuya cuyas cuyo cuyos da dado de debe deben deber debido del desde después donde dónde dos durante e el
él ella ellas ello ellos embargo en entonces entre era eran es esa esas ese eso esos esta está ésta estaba estado
estamos están estar estas este éste esto estos fue fueron ha había habían haber hace hacer hacia han hasta hay he
hemos incluso la las le les lo los luego más me mediante menos mi mí mientras mis mismo misma mismos mismas mucha
muchas mucho muchos muy nada ni ningún ninguna ninguno no nos nosotros nuestra nuestras nuestro nuestros nunca o os
otra otras otro otros para pero poca poco pocos por porque primero pudo puede pueden pues que qué quien quién quienes
se sea sean según ser será si sí sido siempre siendo sin sino sobre solamente solo sólo somos son soy su sus tal tales
también tampoco tan tanto te tener tenía tiene tienen toda todas todavía todo todos tras tres tu tú tus u un una unas
uno unos usted ustedes vez ya yo
""",
    "italian": """
a abbiamo ad agli ai al alcune alcuni alcuno all' alla alle allo allora altra altre altri altro anche ancora anzi
appena avendo avere aveva avevano bensì c che chi ci ciascuna ciascuno ciò cioè circa coi col come comunque con contro
cosa così cui d da dagli dai dal dall' dalla dalle dallo degli dei del dell' della delle dello dentro di dopo dove
dovrebbe due dunque durante e è ed egli ella entro era erano essa esse essendo essere essi esso fa far fare fino fra
fu furono già gli ha hai hanno ho i il in infatti inoltre invece io l la là le lei li lo loro lui lungo ma mai me
mediante meglio meno mentre mi mia mie miei mio molta molte molti molto ne né negli nei nel nell' nella nelle nello
nessun nessuna nessuno noi non nonché nostra nostre nostri nostro nulla o od ogni oltre oppure ora ovvero per perché
perciò però più po' poco poi poiché presso prima proprio può possono qual quale quali qualche quando quanto quasi
quella quelle quelli quello questa queste questi questo qui quindi s sarà saranno sarebbe se secondo sempre senza si
sì sia siano siamo solo solamente sono sopra sotto sta stata state stati stato stesso stessa stessi stesse su sua sue
sugli sui sul sull' sulla sulle sullo suo suoi tale tali tanto te tra tramite tre troppo tu tua tue tuo tuoi tutta
tutte tutti tutto un una uno va verso vi via voi vostra vostro
""",
    "portuguese": """
a à acerca agora ainda além algum alguma algumas alguns ali ambos ante antes ao aos apenas após aquela aquelas aquele
aqueles aquilo aqui as às assim até através bastante bem cada cerca com como conforme contra contudo cuja cujas cujo
cujos da daquela daquele das de dela delas dele deles demais dentro depois desde dessa dessas desse desses desta
destas deste destes deve devem disso disto do dois dos durante e é ela elas ele eles em embora enquanto então entre
era eram essa essas esse esses esta está estão estas estava este estes eu exceto faz fazer foi foram fosse há isso
isto já la lhe lhes lo logo mais mas me mediante menos mesma mesmas mesmo mesmos meu meus minha muita muitas muito
muitos na nada não nas nela nele nem nenhum nenhuma nessa nesse nesta neste ninguém no nos nós nossa nossas nosso
nossos nunca o onde ora os ou outra outras outro outros para pela pelas pelo pelos per perante pode podem poder pois
por porém porque porquanto portanto pouca pouco poucos próprio qual quais qualquer quando quanto quase que quê quem sã
são se seja sejam sem sempre sendo ser será serão seu seus si sido sob sobre somente sua suas tais tal também tanto
tão te tem têm tendo ter teu tinha toda todas todavia todo todos três tu tua tudo um uma umas uns vários vez você
vocês vos
""",
}


@cache
def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language, in lower case; none of a language that has no list here.

    >>> "the" in stop_words("english"), "les" in stop_words("french"), len(stop_words("english")), stop_words("xx")
    (True, True, 326, frozenset())
    """
    words = _WORDS.get(language, "").split()
    if language == "english":
        words += [each.replace("'", mark) for each in _CONTRACTED.split() for mark in "'‘’"]
    return frozenset(words)
