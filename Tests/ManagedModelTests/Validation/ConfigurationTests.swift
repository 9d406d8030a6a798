import ErrorExpectations
import ManagedModel
import Testing

/// The model of one configuration.
struct ConfigurationTests {
    private func model(_ names: [String]) -> ManagedObjectModel {
        var model = Library.model
        model.configurations = [EntityConfiguration(name: "Part", entityNames: names)]
        model.fetchRequests = [
            FetchRequestTemplate(name: "books", entityName: "Book", predicateFormat: "title != nil"),
            FetchRequestTemplate(name: "visitors", entityName: "Visitor", predicateFormat: "name != nil"),
        ]
        model.entities += [
            EntityDescription(name: "Visitor", attributes: [AttributeDescription(name: "name", type: .string)]),
            EntityDescription(name: "Member", parentName: "Visitor"),
        ]
        return model
    }

    @Test func aConfigurationHasItsEntitiesAndTheirAbstractAncestors() throws {
        let part = try model(["Book", "Author"]).restricted(toConfiguration: "Part")
        #expect(part.entities.map(\.name).sorted() == ["Author", "Book", "Item"])
        #expect(part.fetchRequests.map(\.name) == ["books"])
        try part.validate()
    }

    @Test func otherEntitiesDoNotChangeTheHashOfAConfiguration() throws {
        var whole = model(["Visitor"])
        let before = try whole.restricted(toConfiguration: "Part").hash
        whole.entities.removeAll { $0.name == "Member" }
        #expect(try whole.restricted(toConfiguration: "Part").hash == before)
        #expect(whole.hash != before)
    }

    @Test(arguments: [
        (["Book"], "Author"), (["Author"], "Book"), (["Member"], "Visitor"), (["Nobody"], "Nobody"),
    ])
    func missingEntitiesOfAConfigurationAreNamed(_ entities: [String], _ missing: String) {
        let error = expectThrows(ModelError.self) {
            _ = try model(entities).restricted(toConfiguration: "Part")
        }
        #expect(error?.code == .unknownReference && error?.message.contains(missing) == true)
    }

    @Test func anUnknownConfigurationIsAnErrorThatNamesTheOthers() {
        let error = expectThrows(ModelError.self) {
            _ = try model(["Visitor"]).restricted(toConfiguration: "Whole")
        }
        #expect(error?.message.contains("Whole") == true && error?.message.contains("Part") == true)
    }
}
