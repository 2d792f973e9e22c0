"""Stop words of some languages: words that make no keyphrase.

The English ones are the words that pke leaves out, so that its candidates are the same; the others are the articles,
pronouns, prepositions, conjunctions, auxiliaries and common adverbs of the language, of Chinese and Japanese also
particles, numerals, measure words and verbs that any text has.
"""

from __future__ import annotations

from functools import cache

from karat.text.segments import SEGMENTERS

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
    "arabic": """
أبدا إذ إذا إلا إلى إما إن إنما إنه إنها أثناء أجل أحد أخرى أصبح أكثر أم أما أمام أن أنا أنت أنه أنها أو أي أيضا أين
أينما الآن التي الذي الذين اللتان اللتين اللذان اللذين اللواتي اليوم ب باتجاه بأن بعد بعض بعضها بل بما به بها بهذا
بهذه بين بينما تحت تزال تكون تلك تم ثم جدا جميع حتى حول حيث حين خلال دون ذلك ذات رغم سوف سوى شبه صار ضد ضمن عبر عدة
عدم عدد عليه عليها على عن عنه عنها عند عندما غير ف فإن فقد فقط فلا فهو فهي في فيما فيه فيها قبل قد كان كانت كأن كذلك
كل كلا كلما كم كما كي كيف ل لا لأن لأنه لدى لذلك لقد لكل لكن لم لما لماذا لن له لها لهذا لهذه لهم لو ليس ليست ما ماذا
مازال متى مثل مع معظم مما من منذ منه منها مهما نحن نحو نفس نفسه نفسها نعم هذا هذان هذه هذين هل هم هما هن هنا هناك هو
هؤلاء هي و وإن وأن وقد وكان وكانت ولا ولكن ولم وما ومع ومن وهذا وهذه وهو وهي يتم يجب يكون يمكن
""",
    "chinese": """
的 了 和 与 及 或 在 是 有 为 对 从 以 于 也 都 而 并 并且 等 其 之 这 那 此 该 各 每 某 本 我 你 您 他 她 它 我们
你们 他们 她们 它们 自己 这个 那个 这些 那些 这样 那样 这种 那种 这里 那里 什么 怎么 怎样 如何 为何 为什么 哪 哪些
谁 几 多少 一 一个 一些 一种 一样 一般 一直 一定 两 二 三 个 种 些 次 上 下 中 里 内 外 前 后 间 之间 之前 之后 以上
以下 以及 以后 以前 以来 所 所有 所以 把 被 让 使 使得 由 由于 因 因为 因此 因而 但 但是 然而 不过 虽然 尽管 如果 若
则 即 即使 就 才 又 再 还 还是 更 最 很 非常 十分 较 比较 相当 太 不 没 没有 无 非 未 能 能够 可 可以 可能 会 要 应
应该 必须 需 需要 将 已 已经 曾 正 正在 着 过 地 得 吧 吗 呢 啊 给 向 往 到 至 自 随 随着 按 按照 根据 通过 利用
采用 使用 进行 关于 对于 基于 除 除了 除此之外 只 仅 仅仅 只有 只要 不仅 不但 而且 此外 另外 同时 首先 其次 然后
最后 最终 例如 比如 如 如下 其中 其他 其它 另 另一 多 多个 多种 许多 大量 很多 少 不同 同 同样 相同 主要 本文 表明
提出 具有 得到 给出 认为 称 称为 作为 成为 做 来 去 出 起 起来 出来 下来 时 时候 当 当时 现在 目前 今天 年 月 日
""",
    "japanese": """
の に は を が と も で から まで より へ や か ね よ な だ です である でも では には とは への との での ては ても
として とともに について に関する により による によって における において に対する に対して ため ための ように
ような よう こと もの ところ とき 時 際 これ それ あれ どれ ここ そこ あそこ どこ この その あの どの こう そう ああ
どう こんな そんな あんな どんな 私 私たち 我々 彼 彼女 する し した して しない すれ せ さ れ られ せる させ れる
られる いる い いた て ある あり あっ あった ない なく なかっ なっ なる なり なら なけれ でき できる できた 行う
行い 行っ 行なう 用い 用いる 用いた 使う 使っ 得る 得 得られ 示す 示し 示さ 述べる 述べ 考え 考える 見る 見 言う
いう いっ 思う おり おる くる き いく いき しまう しまっ みる み ば た たり ながら つつ のみ だけ ほど ぐらい くらい
など なお また および 及び ならびに 並びに あるいは または もしくは そして しかし しかしながら ただし だが ところが
したがって 従って そのため さらに 更に まず 次に つぎに 最後に 例えば たとえば すなわち つまり 特に とくに 非常に
とても 最も もっとも かなり すべて 全て 各 本 当 同 他 他の 多く 多い 少ない 一つ 二つ 一 二 三 つ 的 性 まし ます
ませ ん う ぬ ず まい らしい そうだ 中 内 上 下 前 後 間 以上 以下 以外 場合 方 本稿 年 月 日
""",
}


@cache
def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language, in lower case; none of a language that has no list here.

    >>> "the" in stop_words("english"), "les" in stop_words("french"), len(stop_words("english")), stop_words("xx")
    (True, True, 326, frozenset())
    """
    words = _WORDS.get(language, "").split()
    if language in SEGMENTERS:  # whose foreign words are English ones mostly
        words += stop_words("english")
    if language == "english":
        words += [each.replace("'", mark) for each in _CONTRACTED.split() for mark in "'‘’"]
    return frozenset(words)
