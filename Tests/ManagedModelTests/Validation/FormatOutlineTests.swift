import ManagedModel
import Testing

/// What is known of a predicate format without its grammar.
struct FormatOutlineTests {
    @Test(arguments: [
        ("SUBQUERY(parts, $p, $p.name == $NAME).@count > 0", []), ("owner.name == $OWNER.name", ["OWNER"]),
        ("SUBQUERY($BOX.parts, $p, $p.n == 1).@count > 0", ["BOX"]), ("a IN {$A, $B, $C}", []),
        ("SUBQUERY($LIST, $p, $p.n == $N).@count > 0", ["LIST"]), ("$LIST.@count > 0 OR a IN $LIST", ["LIST"]),
        ("name == '$NO.key' AND a == $YES . key OR b == $Q.k OR c == $Q.l", ["YES", "Q"]),
        ("SUBQUERY(a, $p, SUBQUERY($p.b, $q, $q.c == $p.d).@count > 0).@count > 0", []),
        ("SUBQUERY(a, $p, $p.b == 1).@count > 0 AND b == $p.c", ["p"]),
    ])
    func variablesThatStandForObjectsAreFound(format: String, names: [String]) {
        #expect(FormatOutline(format).objectVariables == names)
    }
}
