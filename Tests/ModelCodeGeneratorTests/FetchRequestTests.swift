import ManagedModel
import ModelCodeGenerator
import Testing

/// What the generator makes of the predicates of a model's fetch requests, and what it says about them.
@Suite struct FetchRequestTests {
    private func model(_ format: String) -> ManagedObjectModel {
        ManagedObjectModel(
            name: "Shop",
            entities: [
                EntityDescription(
                    name: "Item", attributes: [AttributeDescription(name: "price", type: .double)],
                    relationships: [
                        RelationshipDescription(name: "parts", destinationName: "Part", isToMany: true),
                        RelationshipDescription(name: "maker", destinationName: "Maker"),
                    ]),
                EntityDescription(
                    name: "Book", parentName: "Item", attributes: [AttributeDescription(name: "from", type: .string)]),
                EntityDescription(name: "Part", attributes: [AttributeDescription(name: "name", type: .string)]),
                EntityDescription(name: "Maker", attributes: [AttributeDescription(name: "name", type: .string)]),
            ],
            fetchRequests: [FetchRequestTemplate(name: "Some", entityName: "Item", predicateFormat: format)])
    }

    private func warnings(_ format: String) -> [String] { model(format).unsupportedParts.map(\.message) }

    @Test(arguments: [
        ("SUBQUERY(parts, $p, $p.name = $NAME).@count > $COUNT", ["NAME", "COUNT"]),
        ("SUBQUERY(parts, $p, SUBQUERY($p.items, $i, $i.price = $p).@count > 0).@count > 0", []),
        ("SUBQUERY(parts, $p, $p.name = 1).@count > 0 AND price = $p", ["p"]),
        ("price BETWEEN $RANGE OR price IN {$LOW, $HIGH}", ["RANGE", "LOW", "HIGH"]),
    ])
    func theVariableOfASubqueryIsNoParameter(format: String, parameters: [String]) {
        #expect(warnings(format) == [])
        let line =
            ModelCodeGenerator(codeGeneration: .class).source(for: model(format)).split(separator: "\n").first {
                $0.contains("static func fetchRequestSome(")
            } ?? ""
        let found = line.matches(of: #/(\w+): /#).map { String($0.output.1) }
        #expect(found == parameters, "\(line)")
    }

    @Test(arguments: [
        "price > 3 AND NOT maker.name CONTAINS[cd] 'a'", "ANY parts.name IN {'a', \"b\"}", "#from == nil",
        "price - 1 > -2 * (price + 3)", "CAST(price, 'NSString') LIKE '*a*'", "parts[FIRST].name == self.maker.name",
        "TRUEPREDICATE OR !(price == 1 || price == 2)", "parts.@count == 0 && maker != NULL", "", "sum({1, 2}) > price",
        "TERNARY(price > 1, price, 2) > 3", "NONE parts.name = 'x' AND maker.name BEGINSWITH $START",
        "price !=(3)", "! (price == 1)", "price > 1&&!(price == 2)", "price > 1 || !price == 2",
    ])
    func aPredicateThatIsFineHasNoWarning(format: String) {
        #expect(warnings(format) == [])
    }

    @Test(arguments: [
        ("pric > 3", "its predicate names pric, which is not a property of Item"),
        ("price > 3 AND makr.name = 'x'", "its predicate names makr, which is not a property of Item"),
        ("price > ", "its predicate ends with an operator"),
        ("= 3", "its predicate begins with an operator"),
        ("price = = 3", "an operator in its predicate has no value before it"),
        ("price 3", "its predicate has two values without an operator between them"),
        ("price = 3 price = 4", "its predicate has two values without an operator between them"),
        ("(price >) OR price = 1", "an operator in its predicate has no value after it"),
        ("(price = 3", "( in its predicate is not closed"),
        ("price = 'x", "a quote in its predicate is not closed"),
        (
            "price = %@",
            "its predicate has a %@ or %K, but only a $VARIABLE can have a value"
        ),
    ])
    func aPredicateThatWouldThrowIsAWarning(format: String, words: String) {
        let effect = UnsupportedDeclaration.predicate.effect
        #expect(warnings(format) == ["The fetch request Some: \(words). \(effect)"])
    }
}
