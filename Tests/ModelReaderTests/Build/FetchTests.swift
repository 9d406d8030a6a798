import ManagedModel
import ModelReader
import Testing

@Suite struct FetchTests {
    @Test func aBareRequestHasTheRunTimesDefaults() throws {
        let model = try readPlainly("<entity name=\"E\"/><fetchRequest name=\"all\" entity=\"E\"/>")
        #expect(model.fetchRequests == [FetchRequestTemplate(name: "all", entityName: "E")])
    }

    /// Those that say how Core Data fills objects have no meaning here. Two others are reported as not supported.
    @Test func everyAttributeOfARequestIsKnown() throws {
        let document = try read(
            """
            <entity name="E"><attribute name="a" attributeType="Date"/></entity>
            <fetchRequest name="some" entity="E" predicateString="a == $A" resultType="1" fetchLimit="3" \
            fetchBatchSize="20" includeSubentities="NO" includePropertyValues="YES" includesPendingChanges="NO" \
            returnObjectsAsFaults="NO" returnDistinctResults="YES"/>
            """)
        #expect(document.diagnostics.map(\.message).allSatisfy { !$0.contains("unknown") })
        #expect(
            document.model.fetchRequests == [
                FetchRequestTemplate(
                    name: "some", entityName: "E", predicateFormat: "a == $A", resultType: .objectIDs, fetchLimit: 3,
                    includesSubentities: false)
            ])
    }

    @Test func aResultTypeThatIsNotKnownFetchesObjects() throws {
        let document = try read("<entity name=\"E\"/><fetchRequest name=\"f\" entity=\"E\" resultType=\"9\"/>")
        #expect(document.model.fetchRequests.map(\.resultType) == [.objects])
        #expect(document.diagnostics.count == 1)
    }

    @Test(arguments: ["fetchLimit=\"99999999999999999999\"", "fetchLimit=\"-1\""])
    func aCountThatIsNoneIsAnError(_ count: String) throws {
        let error = try errorReading("<entity name=\"E\"/><fetchRequest name=\"f\" entity=\"E\" \(count)/>")
        #expect(error.code == .badNumber)
    }

    @Test func fetchedPropertiesAreRead() throws {
        let model = try read(
            """
            <entity name="E"><fetchedProperty name="peers" optional="YES">
            <fetchRequest name="fetchedPropertyFetchRequest" entity="E" predicateString="a == $FETCH_SOURCE.a"/>
            <userInfo><entry key="k" value="v"/></userInfo>
            </fetchedProperty></entity>
            """
        ).model
        let request = FetchRequestTemplate(
            name: "fetchedPropertyFetchRequest", entityName: "E", predicateFormat: "a == $FETCH_SOURCE.a")
        #expect(
            model.entity(named: "E")?.fetchedProperties == [
                FetchedPropertyDescription(
                    name: "peers", isOptional: true, fetchRequest: request, userInfo: ["k": "v"])
            ])
    }

    @Test func configurationsAreRead() throws {
        let model = try readPlainly(
            "<entity name=\"E\"/><configuration name=\"C\"><memberEntity name=\"E\"/></configuration>")
        #expect(model.configurations == [EntityConfiguration(name: "C", entityNames: ["E"])])
    }

    @Test func requestsForUnknownEntitiesAreLeftOutWithADiagnostic() throws {
        let document = try read(
            """
            <entity name="E">
            <fetchedProperty name="p"><fetchRequest name="f" entity="X"/></fetchedProperty>
            </entity>
            <fetchRequest name="f" entity="X"/>
            <configuration name="C"><memberEntity name="X"/><memberEntity name="E"/></configuration>
            """)
        #expect(document.model.entity(named: "E")?.fetchedProperties == [])
        #expect(document.model.fetchRequests == [])
        #expect(document.model.configurations.map(\.entityNames) == [["E"]])
        #expect(document.diagnostics.count == 3)
    }
}
